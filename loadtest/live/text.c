/* SPDX-License-Identifier: MIT */
/* text.c -- appends to the text of a block or of a line. */
#include "loadtest/live/text.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

void live_add(char out[LIVE_TEXT_MAX], const char *fmt, ...)
{
    size_t used = strlen(out);
    va_list args;

    va_start(args, fmt);
    (void)vsnprintf(out + used, LIVE_TEXT_MAX - used, fmt, args);
    va_end(args);
}
