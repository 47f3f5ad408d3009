/* SPDX-License-Identifier: MIT */
/* backslash.h -- a text inside a configuration in which a backslash escapes characters. */
#ifndef LOADTEST_KIT_BACKSLASH_H
#define LOADTEST_KIT_BACKSLASH_H

#include <stdio.h>

/* Write the text with a backslash before each of its characters that is one of `special`. */
void backslash_print(FILE *out, const char *text, const char *special);

#endif /* LOADTEST_KIT_BACKSLASH_H */
