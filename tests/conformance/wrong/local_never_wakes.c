/* SPDX-License-Identifier: MIT */
/* local_never_wakes.c -- waiters that sleep until their poll, and that no release wakes. */
#include "base/os/clock.h"
#include "tests/conformance/wrong.h"

static bool sleep_on(void *watched, int64_t until_ns)
{
    (void)watched;
    dlock_clock_sleep_until(until_ns);
    return false;
}

void wrong_local_never_wakes(dlock_variant *it)
{
    it->sleep = sleep_on;
}
