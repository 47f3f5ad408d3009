/* SPDX-License-Identifier: MIT */
/* outputs.h -- can a program write what it was asked for?  Known before it begins.
 *
 * Threads     Any; nothing is shared.
 */
#ifndef BASE_OUTPUTS_H
#define BASE_OUTPUTS_H

#include <stdbool.h>
#include <stddef.h>

#include "base/text/settings.h"

enum { OUTPUTS_WHY_MAX = 512 };

/* Try, for every setting that names an output and that was given, to make a file beside
 * or a directory in it, and take that away again.  `values` is the struct that the
 * settings were read into.  True: all can be written, and `why` is empty.  False: `why`
 * (OUTPUTS_WHY_MAX bytes) has the path, the flag and the reason of the first that cannot,
 * in words that begin with "cannot write". */
bool outputs_are_possible(const struct settings *s, const void *values,
                          char why[OUTPUTS_WHY_MAX]);

#endif /* BASE_OUTPUTS_H */
