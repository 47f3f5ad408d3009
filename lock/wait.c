/* SPDX-License-Identifier: MIT */
/* wait.c -- waiting for a lock, written once for all variants.
 *
 * With the policy `push` there are two ways to wait.  If the variant tells of releases, a
 * waiter sleeps in the variant's `sleep` until a message comes: rest_watching().  A message
 * can be lost, because Redis keeps no message for a client that is not connected, and no
 * message is sent when a lease ends.  Therefore a waiter also asks by itself every few
 * hundred ms, and at the end of the holder's lease.  If the variant does not tell of
 * releases, a waiter sleeps between attempts: pause_for().  The longest sleep doubles from
 * 1 to 50 ms (or to the variant's limit), and each sleep is a random part of it, so that
 * waiters spread out.  The other policies are in retry.c.
 *
 * A store that cannot be reached, or does not answer, may be restarting.  A waiter then
 * tries again after a pause of 10 to 20 ms, which doubles up to a second (or is that of its
 * policy), or up to a quarter of a second where a fail-over is to be expected.  The
 * waiter returns the failure only when its time has passed.
 *
 * A waiter that can be cancelled sleeps in short slices, and checks its cancel object
 * after each.  In a fiber, a hurry ends the sleep. */
#include "lock/wait.h"

#include "lock/cancel.h"
#include "base/os/clock.h"
#include "base/os/fiber.h"
#include "base/os/random.h"

enum {
    BACKOFF_FIRST_MS = 1,
    BACKOFF_MAX_MS = 50,
    BACKOFF_JITTER_PERCENT = 50,
    POLL_MIN_MS = 200, /* between two attempts of a waiter that is woken by messages */
    POLL_SPREAD_MS = 200,
    FAILED_FIRST_MS = 20,
    FAILED_MAX_MS = 1000,
    FAILED_MAX_MOVES_MS = 250, /* if a fail-over of the store is possible */
    CANCEL_SLICE_MS = 10,
};

static int64_t earlier(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

/* The end of the next sleep: when to check the cancel object, or until_ns. */
static int64_t slice_end_ns(const struct dlock_waiting *w, int64_t until_ns)
{
    if (w->cancel == NULL)
        return until_ns;
    return earlier(until_ns, dlock_clock_after(dlock_clock_ns(), CANCEL_SLICE_MS));
}

static void pause_until(const struct dlock_waiting *w, int64_t until_ns)
{
    dlock_fiber_let_hurry(true);
    while (!dlock_cancel_is_fired(w->cancel) && dlock_clock_ns() < until_ns)
        dlock_clock_sleep_until(slice_end_ns(w, until_ns));
    dlock_fiber_let_hurry(false);
}

/* True: woken. */
static bool sleep_watching(const struct dlock_waiting *w, void *watch, int64_t until_ns)
{
    bool woken;

    do {
        dlock_fiber_let_hurry(true);
        woken = w->variant->sleep(watch, slice_end_ns(w, until_ns));
        dlock_fiber_let_hurry(false);
    } while (!woken && !dlock_cancel_is_fired(w->cancel) &&
             dlock_clock_ns() < until_ns && w->cancel != NULL);
    return woken;
}

static dlock_status attempt(struct dlock_waiting *w)
{
    w->try_count++;
    return w->attempt(w->arg, &w->free_in_ms);
}

/* Can another attempt have another answer? */
static bool may_change(const struct dlock_waiting *w, dlock_status st)
{
    return st == DLOCK_BUSY || st == DLOCK_IO || (st == DLOCK_UNKNOWN && !w->counts_twice);
}

/* The pauses of one wait. */
struct rest {
    struct dlock_retry busy;   /* after BUSY, if the variant has no messages */
    struct dlock_retry failed; /* after an attempt that failed */
    bool can_watch;
    void *watch;               /* NULL: not listening yet, or not possible */
    unsigned busy_count;       /* pauses so far            */
    unsigned failed_count;     /* failed attempts in a row */
    int64_t early_ms;          /* the shortest sleep until the end of a lease */
};

/* Is the store found by Sentinels or in a cluster? */
static bool can_move(const struct dlock_waiting *w)
{
    return w->variant->era != NULL && w->variant->era(w->state, NULL) != 0;
}

static struct rest begin_rests(const struct dlock_waiting *w)
{
    struct rest rest = {.busy = *w->retry, .failed = *w->retry,
                        .early_ms = BACKOFF_FIRST_MS};

    if (w->retry->kind != DLOCK_RETRY_PUSH)
        return rest;
    rest.can_watch = w->variant->watch != NULL;
    rest.busy = (struct dlock_retry){
        .kind = DLOCK_RETRY_EXPONENTIAL,
        .first_ms = BACKOFF_FIRST_MS,
        .max_ms = w->variant->poll_max_ms > 0 ? w->variant->poll_max_ms : BACKOFF_MAX_MS,
        .jitter_percent = BACKOFF_JITTER_PERCENT,
    };
    rest.failed = (struct dlock_retry){
        .kind = DLOCK_RETRY_EXPONENTIAL,
        .first_ms = FAILED_FIRST_MS,
        .max_ms = can_move(w) ? FAILED_MAX_MOVES_MS : FAILED_MAX_MS,
        .jitter_percent = BACKOFF_JITTER_PERCENT,
    };
    return rest;
}

static void stop_watching(struct dlock_waiting *w, struct rest *rest, bool granted)
{
    if (rest->watch != NULL)
        w->variant->unwatch(rest->watch, granted);
    rest->watch = NULL;
}

static void pause_for(const struct dlock_waiting *w, const struct dlock_retry *retry,
                      unsigned nth)
{
    int64_t ns = dlock_retry_pause_ns(retry, nth);

    if (w->variant->info.caps & DLOCK_CAP_FAIR)
        ns = earlier(ns, DLOCK_RETRY_FAIR_MAX_MS * DLOCK_NS_PER_MS);
    pause_until(w, earlier(w->until_ns, dlock_clock_ns() + ns));
}

/* Sleep until a message of a release.  If the store answers again and again that the
 * lease is about to end, the sleep becomes longer each time, so that the store is not
 * asked without a pause. */
static bool rest_watching(struct dlock_waiting *w, struct rest *rest)
{
    int64_t now_ns = dlock_clock_ns();
    int64_t poll_ms = POLL_MIN_MS + dlock_random_below(POLL_SPREAD_MS);

    if (w->free_in_ms >= 0 && w->free_in_ms < rest->early_ms) {
        poll_ms = rest->early_ms;
        rest->early_ms = earlier(rest->early_ms * 2, POLL_MIN_MS);
    } else {
        rest->early_ms = BACKOFF_FIRST_MS;
        if (w->free_in_ms >= 0 && w->free_in_ms < poll_ms)
            poll_ms = w->free_in_ms + 1;
    }
    return sleep_watching(w, rest->watch,
                          earlier(w->until_ns, dlock_clock_after(now_ns, poll_ms)));
}

/* Pause after an attempt that answered `st`.  True: woken by a message. */
static bool rest_after(struct dlock_waiting *w, struct rest *rest, dlock_status st)
{
    if (st != DLOCK_BUSY) {
        /* The variant may have lost its watch together with its store. */
        stop_watching(w, rest, false);
        pause_for(w, &rest->failed, ++rest->failed_count);
        return false;
    }
    rest->failed_count = 0;
    if (rest->can_watch && rest->watch == NULL)
        rest->watch = w->variant->watch(w->state, w->claim);
    if (rest->watch != NULL)
        return rest_watching(w, rest);
    if (!w->claim->waited)
        pause_for(w, &rest->busy, ++rest->busy_count);
    return false;
}

/* The answer of a wait whose time or attempts are used up: that of the last attempt,
 * with TIMEOUT in place of BUSY. */
static dlock_status ended(const struct dlock_waiting *w, dlock_status st)
{
    if (st != DLOCK_BUSY)
        return st;
    if (w->retry->tries_max > 0 && w->try_count >= w->retry->tries_max)
        return dlock_fail(DLOCK_TIMEOUT, "not granted in %u tries", w->try_count);
    return DLOCK_TIMEOUT;
}

static bool is_over(const struct dlock_waiting *w)
{
    return (w->retry->tries_max > 0 && w->try_count >= w->retry->tries_max) ||
           dlock_clock_ns() >= w->until_ns;
}

static dlock_status wait_on(struct dlock_waiting *w, struct rest *rest, dlock_status st)
{
    while (may_change(w, st)) {
        bool woken;

        if (dlock_cancel_is_fired(w->cancel))
            return DLOCK_CANCELLED;
        if (is_over(w))
            return ended(w, st);
        woken = rest_after(w, rest, st);
        /* A woken waiter has used up a wake-up that another waiter could have had.  So
         * it makes an attempt even if it was cancelled: the release of its grant then
         * wakes the next waiter. */
        if (!woken && dlock_cancel_is_fired(w->cancel))
            return DLOCK_CANCELLED;
        w->wake_count += woken;
        st = attempt(w);
        w->useless_wake_count += woken && st == DLOCK_BUSY;
    }
    return st;
}

dlock_status dlock_wait(struct dlock_waiting *w)
{
    struct rest rest;
    dlock_status st;

    w->free_in_ms = -1;
    if (dlock_cancel_is_fired(w->cancel))
        return DLOCK_CANCELLED;
    st = attempt(w);
    if (!may_change(w, st) || w->until_ns == 0 || w->retry->kind == DLOCK_RETRY_NONE)
        return st;
    rest = begin_rests(w);
    st = wait_on(w, &rest, st);
    stop_watching(w, &rest, st == DLOCK_OK);
    return st;
}
