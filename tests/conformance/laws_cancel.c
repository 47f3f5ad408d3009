/* SPDX-License-Identifier: MIT */
/* laws_cancel.c -- ending a wait, or the thread that calls, from outside. */
#include <pthread.h>
#include <signal.h>
#include <string.h>

#include "base/os/thread.h"
#include "lock/fault.h"
#include "tests/conformance/laws.h"
#include "tests/thread_end.h"

enum { WAIT_MS = 60, ROUNDS = 5, PROMPT_MS = 150, LET_IN_MS = 80 };

/* The fastest of several tries counts, so that a loaded machine does not spoil the law. A waiter
 * that notices the cancel only at its next look is not that fast in any of five tries. */
void a_cancelled_wait_leaves_nothing(const char *variant)
{
    dlock_options opts = rig_options(variant);
    struct rig_pair pair = rig_open_pair(&opts);
    dlock_cancel *cancel = rig_cancel();
    dlock_request request = {.wait_ms = -1, .cancel = cancel};
    const char *name = rig_name();
    int64_t best_ms = INT64_MAX;
    dlock_lease lease;

    premise_watch_pace();
    for (int i = 0; i < ROUNDS; i++) {
        struct rig_helper *waiter;
        struct rig_helper *other;
        int64_t fired_ms;

        dlock_cancel_reset(cancel);
        assert_status(OK, dlock_acquire(pair.a, name, 0, &lease));
        waiter = rig_helper_ask(pair.b, name, &request);
        assert_stays(!rig_helper_is_done(waiter), WAIT_MS);
        other = rig_helper_ask(pair.a, name, &request);
        assert_stays(!rig_helper_is_done(other), WAIT_MS);
        fired_ms = rig_now_ms();
        dlock_cancel_fire(cancel);
        assert_status(CANCELLED, rig_helper_acquired(waiter));
        assert_status(CANCELLED, rig_helper_acquired(other));
        if (rig_now_ms() - fired_ms < best_ms)
            best_ms = rig_now_ms() - fired_ms;
        rig_helper_finish(waiter);
        rig_helper_finish(other);
        assert_status(OK, dlock_release(pair.a, &lease));
        /* The cancelled waiter left no place in a queue, and did not get the lock. */
        assert_status(OK, rig_try(pair.a, name));
    }
    assert_provided(is_steady(PROMPT_MS), best_ms < PROMPT_MS);
}

void a_fired_cancel_asks_nobody(const char *variant)
{
    dlock_options opts = rig_options(variant);
    struct rig_pair pair = rig_open_pair(&opts);
    dlock_cancel *cancel = rig_cancel();
    dlock_request request = {.wait_ms = -1, .cancel = cancel};
    dlock_lease lease = {.fence = 77};
    const char *name = rig_name();

    dlock_cancel_fire(cancel);
    assert_status(CANCELLED, dlock_acquire_with(pair.a, name, &request, &lease));
    assert_int_equal(77, lease.fence);
    assert_status(OK, rig_try(pair.b, name));
    dlock_cancel_reset(cancel);
    assert_status(OK, dlock_acquire_with(pair.a, name, &request, &lease));
    assert_status(OK, dlock_release(pair.a, &lease));
}

/* The cancel comes while the request is under way, and then the store grants the lock. */
void a_grant_after_the_cancel_is_given_back(const char *variant)
{
    dlock_options opts = rig_options(variant);
    dlock_cancel *cancel = rig_cancel();
    dlock_request request = {.cancel = cancel};
    const char *name = rig_name();
    struct rig_helper *helper;
    dlock_system *sys;
    size_t count;

    opts.redlock_node_timeout_ms = opts.redis_timeout_ms;
    servers_start(&opts);
    count = servers_found();
    sys = rig_open(&opts);
    assert_status(OK, rig_try(sys, name)); /* connects the system */
    servers_signal(0, count, SIGSTOP);
    helper = rig_helper_ask(sys, name, &request);
    assert_stays(!rig_helper_is_done(helper), LET_IN_MS);
    dlock_cancel_fire(cancel);
    servers_signal(0, count, SIGCONT);
    assert_status(CANCELLED, rig_helper_acquired(helper));
    rig_helper_finish(helper);
    assert_int_equal(0, servers_count_held(variant, name));
}

/* ---- pthread_cancel() ---- */

/* A thread that is cancelled. */
struct victim {
    dlock_options opts;
    dlock_system *sys;
    const char *name;
    int64_t wait_ms;
    atomic_bool has_begun;
    bool is_through; /* all its calls have returned */
    dlock_status acquired, released;
    dlock_lease lease;
};

static void release_at_the_end(void *arg)
{
    struct victim *victim = arg;

    victim->released = dlock_release(victim->sys, &victim->lease);
}

/* Makes every call of dlock.h that may wait.  A cancel is pending, and would take effect at the
 * first point that permits it. */
static void *call_while_cancelled(void *arg)
{
    struct victim *victim = arg;
    dlock_metrics metrics;
    dlock_lease second;
    dlock_info info;

    pthread_cancel(pthread_self());
    do
        victim->acquired = dlock_open(&victim->sys, &victim->opts);
    while (victim->acquired == DLOCK_IO);
    if (victim->acquired == DLOCK_OK) {
        (void)!dlock_check(victim->sys);
        victim->acquired = dlock_acquire(victim->sys, victim->name, 0, &victim->lease);
        (void)!dlock_renew(victim->sys, &victim->lease);
        (void)dlock_lease_valid(victim->sys, &victim->lease);
        (void)dlock_trace(victim->sys, &victim->lease, "5af7183fb1d4cf5f5af7183fb1d4cf5f");
        (void)!dlock_inspect(victim->sys, victim->name, &info);
        dlock_metrics_read(victim->sys, &metrics);
        (void)dlock_lost_fd(victim->sys);
        if (dlock_acquire(victim->sys, rig_name(), 0, &second) == DLOCK_OK)
            (void)dlock_release_later(victim->sys, &second);
        dlock_send_debts(victim->sys);
        (void)dlock_pay_debts(victim->sys, -1);
        if (dlock_acquire(victim->sys, rig_name(), 0, &second) == DLOCK_OK)
            (void)dlock_abandon(victim->sys, &second);
        (void)!dlock_force_release(victim->sys, rig_name());
        release_at_the_end(victim);
        dlock_close(victim->sys);
    }
    victim->is_through = true;
    thread_end_if_cancelled();
    return NULL;
}

/* ThreadSanitizer sees no mutex of a thread that a cancel ends inside a function of the system that
 * it replaces. */
static void pause_before_a_cancel(void)
{
    DLOCK_PUT_OFF_CANCEL;
    rig_pause_ms(1);
}

static void *wait_and_die(void *arg)
{
    struct victim *victim = arg;

    atomic_store(&victim->has_begun, true);
    victim->acquired = dlock_acquire(victim->sys, victim->name, victim->wait_ms, &victim->lease);
    pthread_cleanup_push(release_at_the_end, victim);
    victim->is_through = true;
    for (;; thread_end_if_cancelled())
        pause_before_a_cancel();
    pthread_cleanup_pop(0);
    return NULL;
}

static void assert_cancelled(pthread_t thread, const struct victim *victim)
{
    void *end = NULL;

    assert_int_equal(0, pthread_join(thread, &end));
    assert_ptr_equal(PTHREAD_CANCELED, end);
    assert_true(victim->is_through);
}

void a_cancel_of_a_thread_waits_for_its_call(const char *variant)
{
    struct victim victim = {.opts = rig_options(variant), .name = rig_name()};
    dlock_system *sys = rig_open(&victim.opts);
    pthread_t thread;

    assert_int_equal(0, pthread_create(&thread, NULL, call_while_cancelled, &victim));
    assert_cancelled(thread, &victim);
    assert_status(OK, victim.acquired);
    assert_status(OK, victim.released);
    assert_status(OK, rig_try(sys, victim.name));
}

/* The cancelled thread shares its system, and so its connections, with this one. */
void a_cancelled_thread_ruins_no_system(const char *variant)
{
    dlock_options opts = rig_options(variant);
    struct rig_pair pair = rig_open_pair(&opts);
    struct victim victim = {.sys = pair.b, .name = rig_name(), .wait_ms = WAIT_MS};
    pthread_t thread;
    dlock_lease lease;

    assert_status(OK, dlock_acquire(pair.a, victim.name, 0, &lease));
    assert_int_equal(0, pthread_create(&thread, NULL, wait_and_die, &victim));
    assert_comes(atomic_load(&victim.has_begun));
    rig_pause_ms(WAIT_MS / 2);
    pthread_cancel(thread);
    assert_cancelled(thread, &victim);
    assert_status(TIMEOUT, victim.acquired);
    assert_status(OK, rig_try(pair.b, rig_name()));
    assert_status(OK, dlock_release(pair.a, &lease));
    /* A thread that holds the lock releases it as it is cancelled. */
    victim.wait_ms = -1;
    victim.is_through = false;
    assert_int_equal(0, pthread_create(&thread, NULL, wait_and_die, &victim));
    pthread_cancel(thread);
    assert_cancelled(thread, &victim);
    assert_status(OK, victim.acquired);
    assert_status(OK, victim.released);
    assert_status(OK, rig_try(pair.a, victim.name));
    assert_status(OK, rig_try(pair.b, victim.name));
}
