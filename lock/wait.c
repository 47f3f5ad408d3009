/* SPDX-License-Identifier: MIT */
/* wait.c -- waiting for a lock, written once for all variants.
 *
 * Where the variant cannot tell of releases, a waiter sleeps 1 to 50 ms (or as the
 * variant says) between attempts: the ceiling doubles, and each sleep is drawn at
 * random below it, so that waiters spread out.  Where it can, a waiter sleeps until
 * told; but a message can be lost (Redis keeps none for who is not connected, and none
 * is sent when a lease runs out), so it looks by itself every few hundred ms, and at the
 * end of the holder's lease. */
#include "lock/wait.h"

#include "lock/clock.h"
#include "lock/random.h"

enum {
    BACKOFF_FIRST_MS = 1,
    BACKOFF_MAX_MS = 50,
    POLL_MIN_MS = 200, /* behind a watch */
    POLL_SPREAD_MS = 200,
};

static int64_t earlier(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

/* A random instant in the upper half of the next `ceiling_ms`. */
static int64_t jittered(int ceiling_ms)
{
    uint32_t half_ns = (uint32_t)(ceiling_ms * DLOCK_NS_PER_MS / 2);

    return dlock_clock_ns() + half_ns + dlock_random_below(half_ns);
}

static dlock_status poll_until(const dlock_variant *variant, int64_t until_ns,
                               dlock_attempt_fn *attempt, void *arg)
{
    int max_ms = variant->poll_max_ms > 0 ? variant->poll_max_ms : BACKOFF_MAX_MS;
    int64_t free_in_ms = -1;
    int ceiling_ms = BACKOFF_FIRST_MS;
    dlock_status st;

    do {
        dlock_clock_sleep_until(earlier(until_ns, jittered(ceiling_ms)));
        st = attempt(arg, &free_in_ms);
        ceiling_ms = ceiling_ms * 2 > max_ms ? max_ms : ceiling_ms * 2;
    } while (st == DLOCK_BUSY && dlock_clock_ns() < until_ns);
    return st;
}

static dlock_status watch_until(const dlock_variant *variant, void *watch,
                                int64_t until_ns, dlock_attempt_fn *attempt, void *arg,
                                int64_t free_in_ms)
{
    dlock_status st;

    do {
        int64_t now_ns = dlock_clock_ns();
        int64_t poll_ms = POLL_MIN_MS + dlock_random_below(POLL_SPREAD_MS);
        int64_t wake_ns = dlock_clock_after(now_ns, poll_ms);

        if (free_in_ms >= 0)
            wake_ns = earlier(wake_ns, dlock_clock_after(now_ns, free_in_ms + 1));
        variant->sleep(watch, earlier(until_ns, wake_ns));
        st = attempt(arg, &free_in_ms);
    } while (st == DLOCK_BUSY && dlock_clock_ns() < until_ns);
    return st;
}

dlock_status dlock_wait(const dlock_variant *variant, void *state,
                        const dlock_claim *claim, int64_t wait_ms,
                        dlock_attempt_fn *attempt, void *arg)
{
    int64_t until_ns = INT64_MAX;
    int64_t free_in_ms = -1;
    void *watch = NULL;
    dlock_status st;

    if (wait_ms > 0)
        until_ns = dlock_clock_after(dlock_clock_ns(), wait_ms);
    st = attempt(arg, &free_in_ms);
    if (st != DLOCK_BUSY || wait_ms == 0)
        return st;
    if (variant->watch != NULL)
        watch = variant->watch(state, claim);
    if (watch != NULL) {
        st = watch_until(variant, watch, until_ns, attempt, arg, free_in_ms);
        variant->unwatch(watch, st == DLOCK_OK);
    } else {
        st = poll_until(variant, until_ns, attempt, arg);
    }
    return st == DLOCK_BUSY ? DLOCK_TIMEOUT : st;
}
