/* SPDX-License-Identifier: MIT */
/* duration.h -- durations as people write them: 250ms, 2s, 5m, 1h. */
#ifndef BASE_DURATION_H
#define BASE_DURATION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Read a duration in milliseconds.  A whole number and a unit, nothing else: a number
 * without a unit is refused, because its meaning would be unclear; only "0" is valid.
 * False: `text` is not a duration or does not fit; *ms is untouched. */
bool duration_parse(const char *text, int64_t *ms);

/* Write `ms` into `buffer` with the largest unit that divides it.  Returns `buffer`. */
char *duration_format(int64_t ms, char *buffer, size_t size);

/* The clock that durations are measured on, in nanoseconds: dlock_clock_ns() of base/os, which
 * reads CLOCK_BOOTTIME.  Another process may not subtract an instant of CLOCK_MONOTONIC from it:
 * the two clocks differ by the time for which the machine slept. */
int64_t monotonic_ns(void);

#endif /* BASE_DURATION_H */
