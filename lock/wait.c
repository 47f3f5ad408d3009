/* SPDX-License-Identifier: MIT */
/* wait.c -- waiting for a lock, written once for all variants.
 *
 * With the policy `push`, where the variant cannot tell of releases, a waiter sleeps 1
 * to 50 ms (or as the variant says) between attempts: the ceiling doubles, and each
 * sleep is drawn at random below it, so that waiters spread out.  Where it can, a waiter
 * sleeps until told; but a message can be lost (Redis keeps none for who is not
 * connected, and none is sent when a lease runs out), so it looks by itself every few
 * hundred ms, and at the end of the holder's lease.  The other policies are in retry.c.
 *
 * Who may be cancelled sleeps in short slices. */
#include "lock/wait.h"

#include "lock/cancel.h"
#include "lock/clock.h"
#include "lock/random.h"

enum {
    BACKOFF_FIRST_MS = 1,
    BACKOFF_MAX_MS = 50,
    BACKOFF_JITTER_PERCENT = 50,
    POLL_MIN_MS = 200, /* behind a watch */
    POLL_SPREAD_MS = 200,
    CANCEL_SLICE_MS = 10,
};

static int64_t earlier(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

/* When to look at the cancel object, or to wake anyway. */
static int64_t slice_end_ns(const struct dlock_waiting *w, int64_t until_ns)
{
    if (w->cancel == NULL)
        return until_ns;
    return earlier(until_ns, dlock_clock_after(dlock_clock_ns(), CANCEL_SLICE_MS));
}

static void pause_until(const struct dlock_waiting *w, int64_t until_ns)
{
    while (!dlock_cancel_is_fired(w->cancel) && dlock_clock_ns() < until_ns)
        dlock_clock_sleep_until(slice_end_ns(w, until_ns));
}

/* True: woken. */
static bool sleep_watching(const struct dlock_waiting *w, void *watch, int64_t until_ns)
{
    bool woken;

    do {
        woken = w->variant->sleep(watch, slice_end_ns(w, until_ns));
    } while (!woken && !dlock_cancel_is_fired(w->cancel) &&
             dlock_clock_ns() < until_ns && w->cancel != NULL);
    return woken;
}

static dlock_status attempt(struct dlock_waiting *w)
{
    w->try_count++;
    return w->attempt(w->arg, &w->free_in_ms);
}

/* The pauses of a variant that cannot tell of releases. */
static struct dlock_retry own_backoff(const dlock_variant *variant)
{
    struct dlock_retry retry = {
        .kind = DLOCK_RETRY_EXPONENTIAL,
        .first_ms = BACKOFF_FIRST_MS,
        .max_ms = variant->poll_max_ms > 0 ? variant->poll_max_ms : BACKOFF_MAX_MS,
        .jitter_percent = BACKOFF_JITTER_PERCENT,
    };

    return retry;
}

static int64_t pause_ns(const struct dlock_waiting *w, const struct dlock_retry *retry,
                        unsigned nth)
{
    int64_t ns = dlock_retry_pause_ns(retry, nth);

    if (w->variant->info.caps & DLOCK_CAP_FAIR)
        return earlier(ns, DLOCK_RETRY_FAIR_MAX_MS * DLOCK_NS_PER_MS);
    return ns;
}

static dlock_status poll_until(struct dlock_waiting *w, const struct dlock_retry *retry)
{
    dlock_status st = DLOCK_BUSY;
    unsigned nth = 1;

    while (st == DLOCK_BUSY) {
        int64_t now_ns = dlock_clock_ns();

        if (retry->tries_max > 0 && w->try_count >= retry->tries_max)
            return dlock_fail(DLOCK_TIMEOUT, "not granted in %u tries", w->try_count);
        if (now_ns >= w->until_ns)
            return DLOCK_TIMEOUT;
        if (!w->claim->waited)
            pause_until(w, earlier(w->until_ns, now_ns + pause_ns(w, retry, nth++)));
        if (dlock_cancel_is_fired(w->cancel))
            return DLOCK_CANCELLED;
        st = attempt(w);
    }
    return st;
}

static dlock_status watch_until(struct dlock_waiting *w, void *watch)
{
    dlock_status st;

    do {
        int64_t now_ns = dlock_clock_ns();
        int64_t poll_ms = POLL_MIN_MS + dlock_random_below(POLL_SPREAD_MS);
        int64_t wake_ns = dlock_clock_after(now_ns, poll_ms);
        bool woken;

        if (w->free_in_ms >= 0)
            wake_ns = earlier(wake_ns, dlock_clock_after(now_ns, w->free_in_ms + 1));
        woken = sleep_watching(w, watch, earlier(w->until_ns, wake_ns));
        /* Who was woken has used up a wake-up that might have been another's, so it
         * tries also when cancelled: what it is granted is released, which tells the
         * next. */
        if (!woken && dlock_cancel_is_fired(w->cancel))
            return DLOCK_CANCELLED;
        w->wake_count += woken;
        st = attempt(w);
        w->useless_wake_count += woken && st == DLOCK_BUSY;
        if (st == DLOCK_BUSY && dlock_cancel_is_fired(w->cancel))
            return DLOCK_CANCELLED;
    } while (st == DLOCK_BUSY && dlock_clock_ns() < w->until_ns);
    return st == DLOCK_BUSY ? DLOCK_TIMEOUT : st;
}

dlock_status dlock_wait(struct dlock_waiting *w)
{
    struct dlock_retry retry = *w->retry;
    void *watch = NULL;
    dlock_status st;

    w->free_in_ms = -1;
    if (dlock_cancel_is_fired(w->cancel))
        return DLOCK_CANCELLED;
    st = attempt(w);
    if (st != DLOCK_BUSY || w->until_ns == 0 || retry.kind == DLOCK_RETRY_NONE)
        return st;
    if (dlock_cancel_is_fired(w->cancel))
        return DLOCK_CANCELLED;
    if (retry.kind == DLOCK_RETRY_PUSH) {
        if (w->variant->watch != NULL)
            watch = w->variant->watch(w->state, w->claim);
        retry = own_backoff(w->variant);
    }
    if (watch == NULL)
        return poll_until(w, &retry);
    st = watch_until(w, watch);
    w->variant->unwatch(watch, st == DLOCK_OK);
    return st;
}
