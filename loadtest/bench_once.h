/* SPDX-License-Identifier: MIT */
/* bench_once.h -- the answer of `seckill bench-once`, which one build of the laboratory
 * asks of another: one line.
 */
#ifndef LOADTEST_BENCH_ONCE_H
#define LOADTEST_BENCH_ONCE_H

#include <stdbool.h>
#include <stddef.h>

enum { BENCH_ONCE_LINE_MAX = 128 };

/* Write the line of this build, with its end. */
void bench_once_write(char out[BENCH_ONCE_LINE_MAX], double pairs_per_s);

/* Read it.  False: it is something else, or of a build that is not of this version, or
 * not bare (lock/bare.h) although it is to be, or the other way round; `why` says so in
 * a few words. */
bool bench_once_read(const char *text, bool is_bare, double *pairs_per_s, char *why,
                     size_t why_size);

#endif /* LOADTEST_BENCH_ONCE_H */
