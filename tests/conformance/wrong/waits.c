/* SPDX-License-Identifier: MIT */
/* waits.c -- waiters that ask too often, or are not woken. */
#include <stdio.h>

#include "base/os/clock.h"
#include "lock/stores/redisson.h"
#include "tests/conformance/wrong.h"

static dlock_status forgets_to_publish_release(void *opaque, const dlock_claim *claim)
{
    struct redisson_lock quiet = *(struct redisson_lock *)opaque;

    quiet.subscription = NULL; /* as `spin`: nobody listens */
    return redisson_release(&quiet, claim);
}

/* A release without its message: waiters learn of it only by their poll. */
void wrong_forgets_to_publish(dlock_variant *it)
{
    it->release = forgets_to_publish_release;
}

static dlock_status publishes_elsewhere_release(void *opaque, const dlock_claim *claim)
{
    const struct redisson_lock *lock = opaque;
    char channel[REDISSON_NAME_SIZE];
    char lease[12];
    char level[12];
    struct redis_script_call call = {
        &lock->release,
        false,
        1,
        6,
        {claim->name, claim->owner, level, lease, REDISSON_FREED, channel}, REDIS_SHAPE_ANY};

    snprintf(channel, sizeof(channel), "%s:%s", REDISSON_CHANNEL, claim->name);
    snprintf(lease, sizeof(lease), "%d", claim->lease_ms);
    snprintf(level, sizeof(level), "%d", claim->level);
    return redisson_release_by(lock, claim, &call);
}

/* A release that publishes on a channel without the braces around the name, to which no waiter
 * listens. */
void wrong_publishes_elsewhere(dlock_variant *it)
{
    it->release = publishes_elsewhere_release;
}

static bool local_never_wakes_sleep_on(void *watched, int64_t until_ns)
{
    (void)watched;
    dlock_clock_sleep_until(until_ns);
    return false;
}

/* Waiters that sleep until their poll, and that no release wakes. */
void wrong_local_never_wakes(dlock_variant *it)
{
    it->sleep = local_never_wakes_sleep_on;
}

/* A waiter without back-off. */
void wrong_asks_without_pause(dlock_variant *it)
{
    it->poll_max_ms = 1;
}

static bool waits_for_the_message_sleep_on(void *waiter, int64_t until_ns)
{
    (void)until_ns;
    return redisson_sleep(waiter, INT64_MAX);
}

/* A waiter that never asks again without a message: redisson #5761. */
void wrong_waits_for_the_message(dlock_variant *it)
{
    it->sleep = waits_for_the_message_sleep_on;
}

enum { RUNS_OUT_OF_CHANNELS_CHANNELS_MAX = 25 };

static _Atomic int runs_out_of_channels_used;

static void *runs_out_of_channels_watch(void *lock, const dlock_claim *claim)
{
    if (++runs_out_of_channels_used > RUNS_OUT_OF_CHANNELS_CHANNELS_MAX) {
        runs_out_of_channels_used--;
        return NULL;
    }
    return redisson_watch(lock, claim);
}

static void runs_out_of_channels_unwatch(void *waiter, bool granted)
{
    runs_out_of_channels_used--;
    redisson_unwatch(waiter, granted);
}

/* A fixed number of channels: redisson #4216. */
void wrong_runs_out_of_channels(dlock_variant *it)
{
    it->watch = runs_out_of_channels_watch;
    it->unwatch = runs_out_of_channels_unwatch;
}
