/* SPDX-License-Identifier: MIT */
/* laws_etcd_told.c -- waiters for a lock in etcd, which the watch wakes when keys are
 * deleted. */
#include "tests/conformance/keys.h"
#include "tests/conformance/laws.h"

enum {
    WAITERS = 3,
    TRIES = 5,
    SETTLED_MS = 100, /* a waiter has come to sleep by then */
    SOON_MS = 400,    /* a lease outlasts that of its lock by half a second at least */
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

/* What `sys` has sent for acquires until now. */
static uint64_t requests_of(dlock_system *sys)
{
    dlock_metrics metrics;

    dlock_metrics_read(sys, &metrics);
    return metrics.acquire_commands;
}

/* The number of requests that `pair.b` sends for WAITERS acquires.  They wait until the holder
 * releases, which is in this process or another. */
static uint64_t requests_of_waiters(const struct rig_pair *pair, bool is_elsewhere)
{
    dlock_system *holder = is_elsewhere ? pair->a : pair->b;
    const char *name = rig_name();
    struct rig_helper *waiters[WAITERS + 1];
    uint64_t before;
    dlock_lease lease;

    for (int i = 0; i <= WAITERS; i++) { /* each, and a holder, has a lease then */
        waiters[i] = rig_helper_start(pair->b, rig_name(), -1);
        assert_status(OK, rig_helper_acquired(waiters[i]));
    }
    for (int i = 0; i <= WAITERS; i++)
        assert_status(OK, rig_helper_finish(waiters[i]));
    assert_status(OK, dlock_acquire(holder, name, 0, &lease));
    before = requests_of(pair->b);
    for (int i = 0; i < WAITERS; i++) {
        waiters[i] = rig_helper_start(pair->b, name, -1);
        assert_comes(rig_waiter_count(pair->a, name) == i + 1);
    }
    rig_pause_ms(SETTLED_MS);
    assert_status(OK, dlock_release(holder, &lease));
    for (int i = 0; i < WAITERS; i++) {
        assert_status(OK, rig_helper_acquired(waiters[i]));
        assert_status(OK, rig_helper_finish(waiters[i]));
    }
    return requests_of(pair->b) - before;
}

/* The answer to a release of the same process, or the watch, says that the waiter's key is the
 * first one.  So a waiter sends one request, which puts its key, unless it waits for long.  On a
 * busy machine it waits for long, so the fewest requests of some tries count. */
void enters_as_it_is_told(const char *variant)
{
    dlock_options opts = rig_options(variant);
    struct rig_pair pair = rig_open_pair(&opts);

    premise_watch_pace();
    for (int is_elsewhere = 0; is_elsewhere < 2; is_elsewhere++) {
        uint64_t fewest = UINT64_MAX;

        for (int try = 0; try < TRIES && fewest > WAITERS; try++) {
            uint64_t count = requests_of_waiters(&pair, is_elsewhere);

            fewest = count < fewest ? count : fewest;
        }
        assert_provided(is_steady(LATE_MS), fewest == WAITERS);
    }
}

/* A waiter behind gives up, of this process or another, and then one before: the ends of their
 * keys do not let in a waiter whose holder is still there. */
void a_neighbour_that_gives_up_lets_nobody_in(const char *variant)
{
    dlock_options opts = rig_options(variant);
    struct rig_pair pair = rig_open_pair(&opts);
    const char *name = rig_name();
    struct rig_helper *before, *waiter;
    dlock_lease lease, none;

    assert_status(OK, dlock_acquire(pair.a, name, 0, &lease));
    before = rig_helper_start(pair.a, name, SOON_MS);
    assert_comes(rig_waiter_count(pair.b, name) == 1);
    waiter = rig_helper_start(pair.b, name, -1);
    assert_comes(rig_waiter_count(pair.b, name) == 2);
    rig_pause_ms(SETTLED_MS);
    for (int i = 0; i < WAITERS; i++) {
        assert_status(TIMEOUT, dlock_acquire(rig_open(&opts), name, SETTLED_MS, &none));
        assert_status(TIMEOUT, dlock_acquire(pair.b, name, SETTLED_MS, &none));
        assert_false(rig_helper_is_done(waiter));
    }
    assert_status(TIMEOUT, rig_helper_acquired(before));
    (void)rig_helper_finish(before);
    assert_stays(!rig_helper_is_done(waiter), SETTLED_MS);
    assert_int_equal(2, keys_count(name));
    assert_status(OK, dlock_release(pair.a, &lease));
    assert_status(OK, rig_helper_acquired(waiter));
    assert_status(OK, rig_helper_finish(waiter));
}
