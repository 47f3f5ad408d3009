/* SPDX-License-Identifier: MIT */
/* runs_out_of_channels.c -- a fixed number of channels: redisson #4216. */
#include "lock/stores/redisson.h"
#include "tests/conformance/wrong.h"

enum { CHANNELS_MAX = 25 };

static _Atomic int used;

static void *watch(void *lock, const dlock_claim *claim)
{
    if (++used > CHANNELS_MAX) {
        used--;
        return NULL;
    }
    return redisson_watch(lock, claim);
}

static void unwatch(void *waiter, bool granted)
{
    used--;
    redisson_unwatch(waiter, granted);
}

void wrong_runs_out_of_channels(dlock_variant *it)
{
    it->watch = watch;
    it->unwatch = unwatch;
}
