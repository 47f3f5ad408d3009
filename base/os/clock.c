/* SPDX-License-Identifier: MIT */
/* clock.c -- the one clock of the library.
 *
 * Deadlines are on CLOCK_BOOTTIME, because a lease also runs while the machine is
 * suspended.  A sleep uses CLOCK_MONOTONIC, for at most SLICE_MS at a time, so after a
 * suspend it is late by SLICE_MS at most. */
#include "base/os/clock.h"

#include <time.h>

#include "base/os/fiber.h"

enum { SLICE_MS = 1000 };

#define NS_PER_S INT64_C(1000000000)

static int64_t read_clock(clockid_t id)
{
    struct timespec ts;

    clock_gettime(id, &ts);
    return (int64_t)ts.tv_sec * NS_PER_S + ts.tv_nsec;
}

static struct timespec to_timespec(int64_t ns)
{
    struct timespec ts = {.tv_sec = (time_t)(ns / NS_PER_S), .tv_nsec = ns % NS_PER_S};

    return ts;
}

int64_t dlock_clock_ns(void)
{
    return read_clock(CLOCK_BOOTTIME);
}

int64_t dlock_clock_wall_ms(void)
{
    struct timespec ts;

    clock_gettime(CLOCK_REALTIME, &ts);
    return (int64_t)ts.tv_sec * 1000 + ts.tv_nsec / DLOCK_NS_PER_MS;
}

/* The earlier one of `at_ns` and a slice from now, as an instant of CLOCK_MONOTONIC. */
static struct timespec monotonic_instant(int64_t at_ns)
{
    int64_t left_ns = at_ns - dlock_clock_ns();

    if (left_ns > SLICE_MS * DLOCK_NS_PER_MS)
        left_ns = SLICE_MS * DLOCK_NS_PER_MS;
    if (left_ns < 0)
        left_ns = 0;
    return to_timespec(read_clock(CLOCK_MONOTONIC) + left_ns);
}

static void sleep_in_fiber(struct dlock_fiber *fiber, int64_t at_ns)
{
    while (dlock_clock_ns() < at_ns && !(fiber->is_hurried && fiber->may_hurry))
        (void)fiber->host->sleep(fiber, at_ns);
}

void dlock_clock_sleep_until(int64_t at_ns)
{
    struct dlock_fiber *fiber = dlock_fiber_here();

    if (fiber != NULL) {
        sleep_in_fiber(fiber, at_ns);
        return;
    }
    while (dlock_clock_ns() < at_ns) {
        struct timespec ts = monotonic_instant(at_ns);

        clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &ts, NULL);
    }
}
