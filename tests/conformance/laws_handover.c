/* SPDX-License-Identifier: MIT */
/* laws_handover.c -- handing a lock over to the next waiter of the same process.
 *
 * Each system of a law counts as a process, because the waiters of each system stand in a line of
 * their own. The limit of the time that a process may keep the lock is switched off, except in the
 * law about it. */
#include <pthread.h>
#include <string.h>

#include "lock/handover.h"
#include "lock/options.h"
#include "lock/system.h"
#include "tests/conformance/laws.h"

enum { MOST = 2, WAITERS = 4, GIVES_UP_MS = 60, FAR_MS = 60000 };

static dlock_options handed(const char *variant)
{
    dlock_options opts = rig_options(variant);

    opts.handover = MOST;
    return opts;
}

static uint64_t local_grants(dlock_system *sys)
{
    dlock_metrics metrics;

    dlock_metrics_read(sys, &metrics);
    return metrics.local_grants;
}

static bool are_in_line(dlock_system *sys, const char *name, unsigned count)
{
    return dlock_handover_count(sys->handover, name) == count;
}

/* Start a waiter of `sys`, and wait until it is the `nth` in the line. */
static struct rig_helper *line_up(dlock_system *sys, const char *name, unsigned nth)
{
    struct rig_helper *waiter = rig_helper_start(sys, name, -1);

    assert_comes(are_in_line(sys, name, nth));
    return waiter;
}

/* It is the waiter's turn: wait until it has the lock, and let it release. */
static void finish(struct rig_helper *waiter)
{
    assert_status(OK, rig_helper_acquired(waiter));
    assert_status(OK, rig_helper_finish(waiter));
}

static bool is_any_done(struct rig_helper *const *waiters, int from)
{
    for (int i = from; i < WAITERS; i++)
        if (rig_helper_is_done(waiters[i]))
            return true;
    return false;
}

void is_handed_over_so_often(const char *variant)
{
    dlock_options opts = handed(variant);
    struct rig_pair pair = rig_open_pair(&opts);
    const char *name = rig_name();
    struct rig_helper *waiters[WAITERS], *other;
    dlock_lease lease;

    assert_status(OK, dlock_acquire(pair.a, name, -1, &lease));
    for (unsigned i = 0; i < WAITERS; i++)
        waiters[i] = line_up(pair.a, name, i + 1);
    other = rig_helper_start(pair.b, name, -1);
    assert_comes(rig_waiter_count(pair.a, name) == 1);
    assert_status(OK, dlock_release(pair.a, &lease));
    for (int i = 0; i < MOST; i++) {
        assert_status(OK, rig_helper_acquired(waiters[i]));
        assert_string_equal(lease.owner, rig_helper_lease(waiters[i])->owner);
        assert_string_not_equal(lease.token, rig_helper_lease(waiters[i])->token);
        assert_false(is_any_done(waiters, i + 1));
        assert_false(rig_helper_is_done(other));
        assert_status(BUSY, rig_try_elsewhere(pair.a, name));
        finish(waiters[i]);
    }
    assert_status(OK, rig_helper_acquired(other));
    assert_int_equal(MOST, local_grants(pair.a));
    assert_false(is_any_done(waiters, MOST));
    finish(other);
    for (int i = MOST; i < WAITERS; i++)
        finish(waiters[i]);
    assert_int_equal(WAITERS - 1, local_grants(pair.a));
    assert_status(OK, rig_try(pair.b, name));
}

void refuses_to_be_handed_over(const char *variant)
{
    dlock_options opts = handed(variant);
    dlock_system *sys = NULL;

    assert_status(INVALID, dlock_open(&sys, &opts));
    assert_non_null(strstr(dlock_error(), "handed over"));
    opts.variant = "fair";
    opts.retry = "fixed:10ms";
    assert_status(INVALID, dlock_open(&sys, &opts));
    opts.retry = NULL;
    opts.handover = -1;
    assert_status(INVALID, dlock_open(&sys, &opts));
}

void is_handed_over_without_waiting(const char *variant)
{
    dlock_options opts = handed(variant);
    struct rig_pair pair = rig_open_pair(&opts);
    const char *name = rig_name();
    struct rig_helper *next;
    dlock_metrics metrics;
    dlock_lease lease, after;

    assert_status(OK, dlock_acquire(pair.a, name, -1, &lease));
    next = line_up(pair.a, name, 1);
    assert_status(OK, dlock_release_later(pair.a, &lease));
    assert_status(OK, rig_helper_acquired(next));
    assert_string_equal(lease.owner, rig_helper_lease(next)->owner);
    finish(next);
    /* No caller waits in the line, so the release is still to be sent to the store, and keeps the
     * owner until then. */
    assert_status(OK, dlock_acquire(pair.a, name, -1, &lease));
    assert_status(OK, dlock_release_later(pair.a, &lease));
    assert_status(OK, dlock_acquire(pair.a, name, -1, &after));
    assert_string_not_equal(lease.owner, after.owner);
    assert_status(OK, dlock_release_later(pair.a, &after));
    assert_comes(rig_try(pair.b, name) == DLOCK_OK);
    assert_int_equal(0, dlock_pay_debts(pair.a, -1));
    dlock_metrics_read(pair.a, &metrics);
    assert_int_equal(1, metrics.local_grants);
    assert_int_equal(2, metrics.debts_paid);
}

/* `a` holds the lock; one thread of `a` waits in the line, and one thread of `b` waits in the
 * store. */
struct scene {
    struct rig_pair pair;
    const char *name;
    struct rig_helper *near, *far;
    dlock_lease lease;
};

static struct scene begin(const dlock_options *opts)
{
    struct scene s = {.pair = rig_open_pair(opts), .name = rig_name()};

    assert_status(OK, dlock_acquire(s.pair.a, s.name, -1, &s.lease));
    s.near = line_up(s.pair.a, s.name, 1);
    s.far = rig_helper_start(s.pair.b, s.name, -1);
    assert_comes(rig_waiter_count(s.pair.a, s.name) == 1);
    return s;
}

/* The lock was released to the store, so the waiter of the other process gets it first. */
static void assert_far_first(struct scene *s)
{
    assert_status(OK, rig_helper_acquired(s->far));
    assert_false(rig_helper_is_done(s->near));
    assert_int_equal(0, local_grants(s->pair.a));
    finish(s->far);
    finish(s->near);
    assert_status(OK, rig_try(s->pair.b, s->name));
}

void is_not_handed_over_for_long(const char *variant)
{
    dlock_options opts = handed(variant);
    struct scene s;

    dlock_options_lift_limits(false);
    s = begin(&opts);
    dlock_options_lift_limits(true);
    rig_pause_ms(DLOCK_HANDOVER_MS);
    assert_status(OK, dlock_release(s.pair.a, &s.lease));
    assert_far_first(&s);
}

void is_not_handed_over_with_little_lease(const char *variant)
{
    dlock_options opts = handed(variant);
    struct scene s;

    opts.lease_ms = KEPT_LEASE_MS;
    s = begin(&opts);
    while (dlock_lease_left_ms(s.pair.a, &s.lease) >= KEPT_LEASE_MS / 2)
        rig_pause_ms(1);
    /* The answer is LOST on a slow machine; the rest holds in both cases. */
    (void)dlock_release(s.pair.a, &s.lease);
    assert_comes(rig_helper_is_done(s.far));
    (void)rig_helper_finish(s.far);
    assert_comes(rig_helper_is_done(s.near));
    (void)rig_helper_finish(s.near);
    assert_int_equal(0, local_grants(s.pair.a));
}

void hands_over_what_is_left(const char *variant)
{
    dlock_options opts = handed(variant);
    dlock_system *sys = rig_open(&opts);
    const char *name = rig_name();
    struct rig_helper *next;
    dlock_lease lease;

    assert_status(OK, dlock_acquire(sys, name, -1, &lease));
    next = line_up(sys, name, 1);
    assert_status(OK, dlock_release(sys, &lease));
    assert_false(dlock_lease_valid(sys, &lease));
    assert_status(OK, rig_helper_acquired(next));
    assert_true(rig_helper_lease(next)->deadline_ns == lease.deadline_ns);
    assert_true(dlock_lease_valid(sys, rig_helper_lease(next)));
    assert_int_equal(1, local_grants(sys));
    finish(next);
}

void who_left_the_line_gets_nothing(const char *variant)
{
    dlock_options opts = handed(variant);
    dlock_system *sys = rig_open(&opts);
    const char *name = rig_name();
    dlock_cancel *cancel = rig_cancel();
    dlock_request request = {.wait_ms = -1, .cancel = cancel};
    struct rig_helper *late, *cancelled, *stays;
    dlock_lease lease;

    assert_status(OK, dlock_acquire(sys, name, -1, &lease));
    late = rig_helper_start(sys, name, GIVES_UP_MS);
    cancelled = rig_helper_ask(sys, name, &request);
    assert_status(TIMEOUT, rig_helper_acquired(late));
    assert_comes(are_in_line(sys, name, 1));
    stays = line_up(sys, name, 2);
    dlock_cancel_fire(cancel);
    assert_status(CANCELLED, rig_helper_acquired(cancelled));
    assert_comes(are_in_line(sys, name, 1));
    assert_status(OK, dlock_release(sys, &lease));
    finish(stays);
    assert_int_equal(1, local_grants(sys));
    assert_status(OK, rig_try(sys, name));
}

void a_loss_ends_the_chain(const char *variant)
{
    dlock_options opts = handed(variant);
    struct scene s = begin(&opts);

    assert_status(OK, dlock_force_release(s.pair.b, s.name));
    assert_status(OK, rig_helper_acquired(s.far));
    assert_status(LOST, dlock_renew(s.pair.a, &s.lease));
    assert_status(LOST, dlock_release(s.pair.a, &s.lease));
    assert_far_first(&s);
}

void force_ends_the_chain(const char *variant)
{
    dlock_options opts = handed(variant);
    struct scene s = begin(&opts);

    assert_status(OK, dlock_force_release(s.pair.a, s.name));
    assert_status(OK, rig_helper_acquired(s.far));
    assert_status(LOST, dlock_release(s.pair.a, &s.lease));
    assert_far_first(&s);
}

void the_line_outlives_a_lost_holder(const char *variant)
{
    dlock_options opts = handed(variant);
    dlock_system *sys;
    const char *name = rig_name();
    struct rig_helper *next;
    dlock_lease lease;

    opts.lease_ms = SHORT_LEASE_MS;
    sys = rig_open(&opts);
    assert_status(OK, dlock_acquire(sys, name, -1, &lease));
    next = rig_helper_start(sys, name, -1);
    assert_status(OK, rig_helper_acquired(next));
    assert_false(dlock_lease_valid(sys, &lease));
    assert_string_not_equal(lease.owner, rig_helper_lease(next)->owner);
    assert_int_equal(0, local_grants(sys));
    assert_status(LOST, dlock_release(sys, &lease));
    /* The lease of the next holder is as short, so its release may answer LOST. */
    (void)rig_helper_finish(next);
    assert_comes(rig_try(sys, name) == DLOCK_OK);
}

void an_abandoned_hold_is_not_handed_over(const char *variant)
{
    dlock_options opts = handed(variant);
    dlock_system *sys;
    const char *name = rig_name();
    struct rig_helper *next;
    dlock_lease lease;
    int64_t until_ms;

    opts.lease_ms = KEPT_LEASE_MS;
    sys = rig_open(&opts);
    until_ms = rig_now_ms() + KEPT_LEASE_MS;
    assert_status(OK, dlock_acquire(sys, name, -1, &lease));
    next = line_up(sys, name, 1);
    assert_status(OK, dlock_abandon(sys, &lease));
    assert_status(OK, rig_helper_acquired(next));
    assert_true(rig_now_ms() >= until_ms - 1);
    assert_int_equal(0, local_grants(sys));
    (void)rig_helper_finish(next);
}

void hands_over_after_all_levels(const char *variant)
{
    dlock_options opts = handed(variant);
    dlock_system *sys = rig_open(&opts);
    const char *name = rig_name();
    struct rig_helper *next;
    dlock_lease outer, inner;
    dlock_info info;

    assert_status(OK, dlock_acquire(sys, name, -1, &outer));
    assert_status(OK, dlock_acquire(sys, name, -1, &inner));
    next = line_up(sys, name, 1);
    assert_status(OK, dlock_release(sys, &outer));
    assert_true(are_in_line(sys, name, 1));
    assert_false(rig_helper_is_done(next));
    assert_status(OK, dlock_release(sys, &inner));
    assert_status(OK, rig_helper_acquired(next));
    assert_int_equal(1, local_grants(sys));
    assert_status(OK, dlock_inspect(sys, name, &info));
    assert_true(info.locked);
    assert_int_equal(1, info.hold_count);
    finish(next);
    assert_status(OK, dlock_inspect(sys, name, &info));
    assert_false(info.locked);
}

/* A thread that acquires and ends without a release. */
static void *take(void *arg)
{
    const struct scene *s = arg;
    dlock_lease lease;

    return dlock_acquire(s->pair.a, s->name, -1, &lease) == DLOCK_OK ? arg : NULL;
}

void a_dead_thread_holds_up_nobody(const char *variant)
{
    dlock_options opts = handed(variant);
    struct scene s = {.name = rig_name()};
    struct rig_helper *next;
    pthread_t thread;
    void *taken;

    opts.lease_ms = SHORT_LEASE_MS;
    opts.watchdog = true;
    s.pair.a = rig_open(&opts);
    assert_int_equal(0, pthread_create(&thread, NULL, take, &s));
    assert_int_equal(0, pthread_join(thread, &taken));
    assert_non_null(taken);
    next = rig_helper_start(s.pair.a, s.name, -1);
    assert_status(OK, rig_helper_acquired(next));
    assert_int_equal(0, local_grants(s.pair.a));
    (void)rig_helper_finish(next);
}

/* To the store, a thread that has just handed the lock over, and a thread that asks for a lease of
 * its own, are other owners. */
void who_stands_outside_does_not_pass(const char *variant)
{
    dlock_options opts = handed(variant);
    dlock_system *sys = rig_open(&opts);
    const char *name = rig_name();
    struct rig_helper *next;
    dlock_lease lease, none;

    assert_status(OK, dlock_acquire(sys, name, -1, &lease));
    next = line_up(sys, name, 1);
    assert_status(OK, dlock_release(sys, &lease));
    assert_status(OK, rig_helper_acquired(next));
    assert_status(BUSY, dlock_try_lock(sys, name, &none));
    assert_status(TIMEOUT, dlock_try_lock_for(sys, name, GIVES_UP_MS, FAR_MS, &none));
    assert_status(TIMEOUT, dlock_acquire(sys, name, GIVES_UP_MS, &none));
    finish(next);
    assert_status(OK, dlock_try_lock_for(sys, name, -1, FAR_MS, &lease));
    next = rig_helper_start(sys, name, -1);
    assert_comes(rig_waiter_count(sys, name) == 1);
    assert_status(OK, dlock_release(sys, &lease));
    finish(next);
}
