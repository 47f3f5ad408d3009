/* SPDX-License-Identifier: MIT */
/* clock.h -- the one clock of the library: CLOCK_BOOTTIME, in nanoseconds. */
#ifndef DLOCK_CLOCK_H
#define DLOCK_CLOCK_H

#include <limits.h>
#include <stdint.h>
#include <time.h>

/* The kernel's name for this clock. */
#define DLOCK_CLOCK_ID CLOCK_BOOTTIME

#define DLOCK_NS_PER_MS INT64_C(1000000)

/* The present instant of CLOCK_BOOTTIME, in nanoseconds.  Any thread, as all functions
 * here. */
int64_t dlock_clock_ns(void);

/* The wall clock, in milliseconds since 1970.  A wall clock can jump, and the wall
 * clocks of two machines differ.  Use it only for times that a protocol expresses in
 * wall time (getset, permits). */
int64_t dlock_clock_wall_ms(void);

/* `at_ns` plus `ms`, at most INT64_MAX; `ms` is not negative. */
int64_t dlock_clock_after(int64_t at_ns, int64_t ms);

/* Milliseconds from now to `at_ns`, rounded up, 0 if it has passed, for poll(). */
int dlock_clock_poll_ms(int64_t at_ns);

/* Sleep until `at_ns`; in a fiber, at most until it is hurried (fiber.h). */
void dlock_clock_sleep_until(int64_t at_ns);

#endif /* DLOCK_CLOCK_H */
