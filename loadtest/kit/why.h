/* SPDX-License-Identifier: MIT */
/* why.h -- the reason of a failure, which the caller keeps or which goes to stderr. */
#ifndef LOADTEST_KIT_WHY_H
#define LOADTEST_KIT_WHY_H

enum { WHY_MAX = 256 };

/* Print a line, without a newline, into the WHY_MAX bytes of `why`; NULL: to stderr, after
 * "seckill: ". Line breaks in the text become spaces, and a text that does not fit is cut. */
void why_say(char *why, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

#endif /* LOADTEST_KIT_WHY_H */
