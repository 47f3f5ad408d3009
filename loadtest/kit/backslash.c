/* SPDX-License-Identifier: MIT */
/* backslash.c -- escapes by a backslash. */
#include "loadtest/kit/backslash.h"

#include <string.h>

void backslash_print(FILE *out, const char *text, const char *special)
{
    for (const char *p = text; *p; p++) {
        if (strchr(special, *p))
            fputc('\\', out);
        fputc(*p, out);
    }
}
