/* SPDX-License-Identifier: MIT */
/* why.c -- the reason of a failure. */
#include "loadtest/kit/why.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/os/utf8.h"
#include "base/text/printable.h"

void why_print(FILE *out, const char *text)
{
    char *shown = malloc(UTF8_SHOWN_SIZE(strlen(text))), *end = shown;

    if (shown == NULL)
        abort();
    while (*text != '\0') {
        if (*text == '\n' || *text == '\t')
            strcpy(end, *text++ == '\n' ? "\n" : "\t");
        else
            text += utf8_piece(text, end);
        end += strlen(end);
    }
    *end = '\0';
    (void)fputs(shown, out);
    free(shown);
}

void veprintf(const char *fmt, va_list args)
{
    char *text = NULL;

    if (vasprintf(&text, fmt, args) < 0)
        abort();
    why_print(stderr, text);
    free(text);
}

void eprintf(const char *fmt, ...)
{
    va_list args;

    va_start(args, fmt);
    veprintf(fmt, args);
    va_end(args);
}

void why_say(char *why, const char *fmt, ...)
{
    char text[WHY_MAX], line[WHY_MAX];
    va_list args;

    va_start(args, fmt);
    (void)vsnprintf(text, sizeof text, fmt, args);
    va_end(args);
    (void)printable(text, line, sizeof line);
    if (why)
        (void)snprintf(why, WHY_MAX, "%s", line);
    else
        eprintf("seckill: %s\n", line);
}
