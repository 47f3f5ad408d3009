/* SPDX-License-Identifier: MIT */
/* why.h -- the reason of a failure, which the caller keeps or which goes to stderr, and all else
 * that the programs of the laboratory print there. */
#ifndef LOADTEST_KIT_WHY_H
#define LOADTEST_KIT_WHY_H

#include <stdarg.h>
#include <stdio.h>

enum { WHY_MAX = 256 };

/* Print the text as base/os/utf8.h shows it; ends of lines and tabs stay. */
void why_print(FILE *out, const char *text);

/* printf() to stderr, shown in the same way.  Only the styles of a terminal go past it. */
void eprintf(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
void veprintf(const char *fmt, va_list args) __attribute__((format(printf, 1, 0)));

/* Print a line, without a newline, into the WHY_MAX bytes of `why`; NULL: to stderr, after
 * "seckill: ".  The line is printable (base/text/printable.h). */
void why_say(char *why, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

#endif /* LOADTEST_KIT_WHY_H */
