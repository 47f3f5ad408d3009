/* SPDX-License-Identifier: MIT */
/* laws_cancel.c -- ending a wait from outside. */
#include <signal.h>
#include <string.h>

#include "lock/fault.h"
#include "tests/conformance/laws.h"

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
