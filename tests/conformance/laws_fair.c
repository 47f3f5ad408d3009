/* SPDX-License-Identifier: MIT */
/* laws_fair.c -- who waits first enters first. */
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/conformance/laws.h"

enum { WAITERS = 5, APART_MS = 120, SESSION_MS = 1500 };

void serves_in_arrival_order(const char *variant)
{
    dlock_options opts = rig_options(variant);
    struct rig_pair pair = rig_open_pair(&opts);
    const char *name = rig_name();
    struct rig_helper *waiters[WAITERS];
    dlock_lease lease;

    assert_status(OK, dlock_acquire(pair.a, name, 0, &lease));
    for (int i = 0; i < WAITERS; i++) {
        waiters[i] = rig_helper_start(i % 2 == 0 ? pair.b : pair.a, name, -1);
        /* Nothing tells that it stands in the queue: let it come well before the next. */
        rig_pause_ms(APART_MS);
    }
    assert_status(OK, dlock_release(pair.a, &lease));
    for (int i = 0; i < WAITERS; i++) {
        assert_status(OK, rig_helper_acquired(waiters[i]));
        for (int later = i + 1; later < WAITERS; later++)
            assert_false(rig_helper_is_done(waiters[later]));
        assert_status(OK, rig_helper_finish(waiters[i]));
    }
}

/* Who does not wait gets nothing while others do, also in the moment of hand-over; and
 * who gave up waiting is in nobody's way. */
void lets_nobody_pass_a_waiter(const char *variant)
{
    dlock_options opts = rig_options(variant);
    struct rig_pair pair = rig_open_pair(&opts);
    const char *name = rig_name();
    struct rig_helper *waiter;
    dlock_lease lease;
    dlock_lease lost;

    assert_status(OK, dlock_acquire(pair.a, name, 0, &lease));
    assert_status(TIMEOUT, dlock_acquire(pair.b, name, APART_MS, &lost));
    assert_status(OK, dlock_release(pair.a, &lease));
    assert_status(OK, dlock_acquire(pair.a, name, 0, &lease));
    waiter = rig_helper_start(pair.b, name, -1);
    rig_pause_ms(APART_MS);
    assert_status(OK, dlock_release(pair.a, &lease));
    while (!rig_helper_is_done(waiter))
        assert_status(BUSY, rig_try(pair.a, name));
    assert_status(OK, rig_helper_acquired(waiter));
    assert_status(OK, rig_helper_finish(waiter));
    assert_status(OK, rig_try(pair.a, name));
}

/* A process that waits is killed: those behind it enter all the same, and it never
 * does. */
void a_dead_waiter_keeps_nobody(const char *variant)
{
    dlock_options opts = rig_options(variant);
    dlock_system *sys = rig_open(&opts);
    const char *name = rig_name();
    struct rig_helper *behind;
    dlock_lease lease;
    pid_t pid;

    assert_status(OK, dlock_acquire(sys, name, 0, &lease));
    pid = fork();
    assert_true(pid >= 0);
    if (pid == 0) {
        dlock_system *own = NULL;

        if (rig_caps(variant) & DLOCK_CAP_SESSION)
            opts.lease_ms = SESSION_MS; /* its place goes with its session */
        if (dlock_open(&own, &opts) == DLOCK_OK &&
            dlock_acquire(own, name, -1, &lease) == DLOCK_OK)
            _exit(2);
        _exit(1);
    }
    rig_pause_ms(3 * APART_MS);
    kill(pid, SIGKILL);
    assert_int_equal(pid, waitpid(pid, NULL, 0));
    behind = rig_helper_start(sys, name, -1);
    rig_pause_ms(APART_MS);
    assert_status(OK, dlock_release(sys, &lease));
    assert_status(OK, rig_helper_acquired(behind));
    assert_status(OK, rig_helper_finish(behind));
}
