/* SPDX-License-Identifier: MIT */
/* clock_sum.c -- arithmetic with instants of the clock.
 *
 * The simulation (tests/simulation/) replaces clock.c by its own clock, and uses this
 * file unchanged. */
#include "base/os/clock.h"

int64_t dlock_clock_after(int64_t at_ns, int64_t ms)
{
    if (ms > (INT64_MAX - at_ns) / DLOCK_NS_PER_MS)
        return INT64_MAX;
    return at_ns + ms * DLOCK_NS_PER_MS;
}

int dlock_clock_poll_ms(int64_t at_ns)
{
    int64_t left_ns = at_ns - dlock_clock_ns();

    if (left_ns <= 0)
        return 0;
    if (left_ns > (INT_MAX - 1) * DLOCK_NS_PER_MS)
        return INT_MAX;
    return (int)((left_ns + DLOCK_NS_PER_MS - 1) / DLOCK_NS_PER_MS);
}
