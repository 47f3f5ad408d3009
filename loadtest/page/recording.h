/* SPDX-License-Identifier: MIT */
/* recording.h -- a performance as JSON, from which the story page draws every step. */
#ifndef LOADTEST_PAGE_RECORDING_H
#define LOADTEST_PAGE_RECORDING_H

#include <stdio.h>

#include "loadtest/check/check.h"
#include "loadtest/scenario/stage.h"

/* Print an element <script type="application/json" class="recording"> with the performance, which
 * must have happened and been judged.  `example`: the violation that is shown, NULL if there is
 * none.  The lines of `s` must be sorted by their beginning.  Times are microseconds since the
 * story began.  No byte of a name or of a wire's text ends the element: "<" stands there as an
 * escape. */
void recording_print(FILE *out, const struct stage *s, const struct check_example *example);

#endif /* LOADTEST_PAGE_RECORDING_H */
