/* SPDX-License-Identifier: MIT */
/* lines.h -- the progress of a comparison: for a terminal, a line for each lock; for programs. */
#ifndef LOADTEST_COMPARE_LINES_H
#define LOADTEST_COMPARE_LINES_H

#include "loadtest/compare/compare.h"
#include "loadtest/kit/progress.h"

enum { COMPARE_LINE_MAX = 256, COMPARE_LINES_MAX = 3000 };

/* Write into `above` the number of runs that are done and the time that is left, and into `below` a
 * line for each lock with the outcomes of its runs so far. */
void comparison_lines(const struct comparison *c, const struct progress *progress,
                      char above[COMPARE_LINE_MAX], char below[COMPARE_LINES_MAX]);

/* Write the event "run" of a run that is done, if JSON lines are wanted. */
void comparison_tell_run(const struct comparison *c, const struct cell *cell, int repeat,
                         const struct progress *progress);

#endif /* LOADTEST_COMPARE_LINES_H */
