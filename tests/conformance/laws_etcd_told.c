/* SPDX-License-Identifier: MIT */
/* laws_etcd_told.c -- waiters for a lock in etcd, which the watch wakes when keys are
 * deleted. */
#include "tests/conformance/keys.h"
#include "tests/conformance/laws.h"

enum {
    WAITERS = 3,
    TRIES = 5,
    SETTLED_MS = 100, /* within this time a new waiter of a prompt store has begun to sleep */
    LATE_MS = 300,
};

void wakes_only_the_next(const char *variant)
{
    dlock_options opts = rig_options(variant);
    struct rig_pair pair = rig_open_pair(&opts);
    const char *name = rig_name();
    struct rig_helper *waiters[WAITERS];
    dlock_metrics metrics;
    dlock_lease lease;

    assert_status(OK, dlock_acquire(pair.a, name, 0, &lease));
    for (int i = 0; i < WAITERS; i++) {
        waiters[i] = rig_helper_start(pair.b, name, -1);
        assert_comes(rig_waiter_count(pair.a, name) == i + 1);
    }
    assert_status(OK, dlock_release(pair.a, &lease));
    for (int i = 0; i < WAITERS; i++) {
        assert_status(OK, rig_helper_acquired(waiters[i]));
        assert_status(OK, rig_helper_finish(waiters[i]));
    }
    dlock_metrics_read(pair.b, &metrics);
    assert_true(metrics.wake_ups <= WAITERS);
    assert_int_equal(0, metrics.useless_wake_ups);
    assert_int_equal(0, keys_count(name));
}

/* The number of requests that `sys` has sent for acquires so far. */
static uint64_t requests_of(dlock_system *sys)
{
    dlock_metrics metrics;

    dlock_metrics_read(sys, &metrics);
    return metrics.acquire_commands;
}

/* The number of requests that `pair.b` sends for WAITERS acquires. The holder, whose release they
 * wait for, is in the same process or in another one. *took_ms: the time of all requests. */
static uint64_t requests_of_waiters(const struct rig_pair *pair, bool is_elsewhere,
                                    int64_t *took_ms)
{
    dlock_system *holder = is_elsewhere ? pair->a : pair->b;
    const char *name = rig_name();
    struct rig_helper *waiters[WAITERS + 1];
    int64_t begun_ms;
    uint64_t before;
    dlock_lease lease;

    for (int i = 0; i <= WAITERS; i++) { /* so that each waiter, and a holder, has a lease */
        waiters[i] = rig_helper_start(pair->b, rig_name(), -1);
        assert_status(OK, rig_helper_acquired(waiters[i]));
    }
    for (int i = 0; i <= WAITERS; i++)
        assert_status(OK, rig_helper_finish(waiters[i]));
    assert_status(OK, dlock_acquire(holder, name, 0, &lease));
    before = requests_of(pair->b);
    begun_ms = rig_now_ms();
    for (int i = 0; i < WAITERS; i++) {
        waiters[i] = rig_helper_start(pair->b, name, -1);
        assert_comes(rig_waiter_count(pair->a, name) == i + 1);
    }
    rig_pause_ms(STRETCHED(SETTLED_MS));
    assert_status(OK, dlock_release(holder, &lease));
    for (int i = 0; i < WAITERS; i++) {
        assert_status(OK, rig_helper_acquired(waiters[i]));
        assert_status(OK, rig_helper_finish(waiters[i]));
    }
    *took_ms = rig_now_ms() - begun_ms - STRETCHED(SETTLED_MS);
    return requests_of(pair->b) - before;
}

/* The answer to a release in the same process, or else the watch, says that the waiter's key is the
 * first one. So a waiter sends only the request that puts its key, unless it waits for long, or the
 * lock is free before it sleeps. Both happen when the machine or the store is busy, so the fewest
 * requests of several tries count. */
void enters_as_it_is_told(const char *variant)
{
    dlock_options opts = rig_options(variant);
    struct rig_pair pair = rig_open_pair(&opts);

    premise_watch_pace();
    for (int is_elsewhere = 0; is_elsewhere < 2; is_elsewhere++) {
        uint64_t fewest = UINT64_MAX;
        int64_t least_ms = INT64_MAX;

        for (int try = 0; try < TRIES && fewest > WAITERS; try++) {
            int64_t took_ms;
            uint64_t count = requests_of_waiters(&pair, is_elsewhere, &took_ms);

            fewest = count < fewest ? count : fewest;
            least_ms = took_ms < least_ms ? took_ms : least_ms;
        }
        assert_provided(is_steady(LATE_MS) && least_ms < STRETCHED(SETTLED_MS),
                        fewest == WAITERS);
    }
}

/* First a waiter behind the waiter gives up, and then one before it; each is in the same process or
 * in another. While the holder still holds, the end of their keys must not let the waiter in. */
void a_neighbour_that_gives_up_lets_nobody_in(const char *variant)
{
    dlock_options opts = rig_options(variant);
    struct rig_pair pair = rig_open_pair(&opts);
    dlock_cancel *cancel = rig_cancel();
    dlock_request request = {.wait_ms = -1, .cancel = cancel};
    const char *name = rig_name();
    struct rig_helper *before, *waiter;
    dlock_lease lease, none;

    assert_status(OK, dlock_acquire(pair.a, name, 0, &lease));
    before = rig_helper_ask(pair.a, name, &request);
    assert_comes(rig_waiter_count(pair.b, name) == 1);
    waiter = rig_helper_start(pair.b, name, -1);
    assert_comes(rig_waiter_count(pair.b, name) == 2);
    rig_pause_ms(SETTLED_MS);
    for (int i = 0; i < WAITERS; i++) {
        assert_status(TIMEOUT, dlock_acquire(rig_open(&opts), name, SETTLED_MS, &none));
        assert_status(TIMEOUT, dlock_acquire(pair.b, name, SETTLED_MS, &none));
        assert_false(rig_helper_is_done(waiter));
    }
    dlock_cancel_fire(cancel);
    assert_status(CANCELLED, rig_helper_acquired(before));
    (void)rig_helper_finish(before);
    assert_comes(keys_count(name) == 2);
    assert_stays(!rig_helper_is_done(waiter), SETTLED_MS);
    assert_status(OK, dlock_release(pair.a, &lease));
    assert_status(OK, rig_helper_acquired(waiter));
    assert_status(OK, rig_helper_finish(waiter));
}
