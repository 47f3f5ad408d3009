/* SPDX-License-Identifier: MIT */
/* outputs.h -- can a command write what it was asked for?  Known before it begins. */
#ifndef LOADTEST_OUTPUTS_H
#define LOADTEST_OUTPUTS_H

#include <stdbool.h>

#include "base/settings.h"

/* Try, for every setting that names an output and that was given, to make a file beside
 * or a directory in it, and take that away again.  `values` is the struct that the
 * settings were read into.  False: said on stderr which path cannot be written and why. */
bool outputs_are_possible(const struct settings *s, const void *values);

#endif /* LOADTEST_OUTPUTS_H */
