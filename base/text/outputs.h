/* SPDX-License-Identifier: MIT */
/* outputs.h -- checks, before a program begins its work, that it can write its outputs.
 *
 * Threads     Any.
 */
#ifndef BASE_OUTPUTS_H
#define BASE_OUTPUTS_H

#include <stdbool.h>
#include <stddef.h>

#include "base/text/settings.h"

enum { OUTPUTS_WHY_MAX = 512 };

/* For every given setting that names an output: try to make a file beside the output,
 * or a directory in it, and remove it again.  `values` is the struct that the
 * settings were read into.  True: all can be written, and `why` is empty.  False: `why`
 * (OUTPUTS_WHY_MAX bytes) has the path, the flag and the reason of the first that cannot,
 * in words that begin with "cannot write". */
bool outputs_are_possible(const struct settings *s, const void *values,
                          char why[OUTPUTS_WHY_MAX]);

#endif /* BASE_OUTPUTS_H */
