/* SPDX-License-Identifier: MIT */
/* laws_retry.c -- retry policies, with every variant. */
#include <string.h>

#include "tests/conformance/laws.h"

enum { WAIT_MS = 80, BELIEVED_MS = 2500 };

void retry_none_never_waits(const char *variant)
{
    dlock_options opts = rig_options(variant);
    const char *name = rig_name();
    struct rig_pair pair;
    dlock_lease lease;
    dlock_lease none;

    opts.retry = "none";
    pair = rig_open_pair(&opts);
    assert_status(OK, dlock_lock(pair.a, name, &lease));
    assert_status(BUSY, dlock_lock(pair.b, name, &none));
    assert_status(BUSY, dlock_acquire(pair.b, name, PATIENCE_MS, &none));
    assert_status(OK, dlock_release(pair.a, &lease));
    assert_status(OK, rig_try(pair.a, name)); /* the call left no waiter in a queue */
}

static void assert_runs_out(const char *variant, const char *retry, const char *says)
{
    dlock_options opts = rig_options(variant);
    const char *name = rig_name();
    struct rig_pair pair;
    dlock_lease lease;
    dlock_lease none;

    opts.retry = retry;
    pair = rig_open_pair(&opts);
    assert_status(OK, dlock_acquire(pair.a, name, 0, &lease));
    assert_status(BUSY, dlock_acquire(pair.b, name, 0, &none));
    assert_status(TIMEOUT, dlock_acquire(pair.b, name, -1, &none));
    if (strstr(dlock_error(), says) == NULL)
        fail_msg("\"%s\" does not say \"%s\"", dlock_error(), says);
    assert_status(OK, dlock_release(pair.a, &lease));
    assert_status(OK, rig_try(pair.a, name));
}

void a_limit_of_tries_ends_the_wait(const char *variant)
{
    assert_runs_out(variant, "fixed:5ms,x4", "in 4 tries");
    assert_runs_out(variant, "exponential:1ms..4ms,x3,jitter:50%", "in 3 tries");
}

void retries_until_it_is_free(const char *variant)
{
    dlock_options opts = rig_options(variant);
    const char *name = rig_name();
    struct rig_helper *waiter;
    struct rig_pair pair;
    dlock_lease lease;

    opts.retry = "fixed:10ms,jitter:100%";
    pair = rig_open_pair(&opts);
    assert_status(OK, dlock_acquire(pair.a, name, 0, &lease));
    waiter = rig_helper_start(pair.b, name, -1);
    assert_stays(!rig_helper_is_done(waiter), WAIT_MS);
    assert_status(OK, dlock_release(pair.a, &lease));
    assert_status(OK, rig_helper_acquired(waiter));
    assert_status(OK, rig_helper_finish(waiter));
}

/* By the policy alone, the waiter would ask less often than it must so that a fair variant believes
 * that it waits. */
void a_slow_policy_keeps_its_place(const char *variant)
{
    dlock_options opts = rig_options(variant);
    const char *name = rig_name();
    struct rig_helper *first;
    struct rig_helper *second;
    dlock_system *slow;
    dlock_system *sys;
    dlock_lease lease;

    sys = rig_open(&opts);
    opts.retry = "fixed:1m,jitter:0%";
    slow = rig_open(&opts);
    assert_status(OK, dlock_acquire(sys, name, 0, &lease));
    premise_watch_pace();
    first = rig_helper_start(slow, name, -1);
    assert_comes(rig_waiter_count(sys, name) == 1);
    second = rig_helper_start(sys, name, -1);
    assert_stays(!rig_helper_is_done(second), BELIEVED_MS);
    assert_status(OK, dlock_release(sys, &lease));
    assert_comes(rig_helper_is_done(first) || rig_helper_is_done(second));
    assert_provided(is_steady(BELIEVED_MS / 2), !rig_helper_is_done(second));
    assert_status(OK, rig_helper_acquired(first));
    assert_status(OK, rig_helper_finish(first));
    assert_status(OK, rig_helper_acquired(second));
    assert_status(OK, rig_helper_finish(second));
}
