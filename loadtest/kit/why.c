/* SPDX-License-Identifier: MIT */
/* why.c -- the reason of a failure. */
#include "loadtest/kit/why.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

void why_say(char *why, const char *fmt, ...)
{
    char text[WHY_MAX];
    va_list args;

    va_start(args, fmt);
    (void)vsnprintf(text, sizeof text, fmt, args);
    va_end(args);
    for (char *p = text; *p != '\0'; p++)
        if (*p == '\n' || *p == '\t')
            *p = ' ';
    if (why)
        (void)snprintf(why, WHY_MAX, "%s", text);
    else
        fprintf(stderr, "seckill: %s\n", text);
}
