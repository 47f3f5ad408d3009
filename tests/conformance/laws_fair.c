/* SPDX-License-Identifier: MIT */
/* laws_fair.c -- waiters get a fair lock in the order of their arrival. */
#include <signal.h>
#include <sys/wait.h>

#include "tests/conformance/laws.h"

enum { WAITERS = 5, GIVES_UP_MS = 120 };

/* A waiter that does not look for this long may lose its place: see lock/retry.h. A loaded machine
 * also delays the server's answers to a waiter that looked in time, and this test cannot measure
 * that delay. But no waiter loses its place earlier than this time after it came. */
#define BELIEVED_MS 1500
#define is_believed(came_ms) lasts_until((came_ms) + BELIEVED_MS)

static bool any_is_done(struct rig_helper *const *waiters, int count)
{
    for (int i = 0; i < count; i++)
        if (rig_helper_is_done(waiters[i]))
            return true;
    return false;
}

void serves_in_arrival_order(const char *variant)
{
    dlock_options opts = rig_options(variant);
    struct rig_pair pair = rig_open_pair(&opts);
    const char *name = rig_name();
    struct rig_helper *waiters[WAITERS];
    dlock_lease lease;
    int64_t came_ms;

    assert_status(OK, dlock_acquire(pair.a, name, 0, &lease));
    came_ms = rig_now_ms();
    for (int i = 0; i < WAITERS; i++) {
        waiters[i] = rig_helper_start(i % 2 == 0 ? pair.b : pair.a, name, -1);
        assert_comes(rig_waiter_count(pair.a, name) == i + 1);
    }
    assert_status(OK, dlock_release(pair.a, &lease));
    for (int i = 0; i < WAITERS; i++) {
        assert_comes(any_is_done(waiters + i, WAITERS - i));
        for (int later = i + 1; later < WAITERS; later++)
            assert_provided(is_believed(came_ms), !rig_helper_is_done(waiters[later]));
        assert_status(OK, rig_helper_acquired(waiters[i]));
        assert_status(OK, rig_helper_finish(waiters[i]));
    }
}

/* A caller that does not wait is refused while others wait, also during a hand-over. A waiter that
 * gave up delays no other waiter. */
void lets_nobody_pass_a_waiter(const char *variant)
{
    dlock_options opts = rig_options(variant);
    struct rig_pair pair = rig_open_pair(&opts);
    const char *name = rig_name();
    struct rig_helper *waiter;
    dlock_lease lease;
    dlock_lease lost;
    int64_t came_ms;

    assert_status(OK, dlock_acquire(pair.a, name, 0, &lease));
    assert_status(TIMEOUT, dlock_acquire(pair.b, name, GIVES_UP_MS, &lost));
    assert_status(OK, dlock_release(pair.a, &lease));
    assert_status(OK, dlock_acquire(pair.a, name, 0, &lease));
    came_ms = rig_now_ms();
    waiter = rig_helper_start(pair.b, name, -1);
    assert_comes(rig_waiter_count(pair.a, name) == 1);
    assert_status(OK, dlock_release(pair.a, &lease));
    while (!rig_helper_is_done(waiter))
        assert_status_provided(is_believed(came_ms), BUSY, rig_try(pair.a, name));
    assert_status(OK, rig_helper_acquired(waiter));
    assert_status(OK, rig_helper_finish(waiter));
    assert_status(OK, rig_try(pair.a, name));
}

/* A process that waits is killed. The waiters behind it still get the lock, and the killed one
 * never does. */
void a_dead_waiter_keeps_nobody(const char *variant)
{
    dlock_options opts = rig_options(variant);
    dlock_system *sys = rig_open(&opts);
    const char *name = rig_name();
    struct rig_helper *behind;
    dlock_lease lease;
    pid_t pid;

    assert_status(OK, dlock_acquire(sys, name, 0, &lease));
    pid = wait_by_another_process(variant, name);
    assert_comes(rig_waiter_count(sys, name) == 1);
    kill(pid, SIGKILL);
    assert_int_equal(pid, waitpid(pid, NULL, 0));
    behind = rig_helper_start(sys, name, -1);
    assert_comes(rig_waiter_count(sys, name) > 0);
    assert_status(OK, dlock_release(sys, &lease));
    assert_status(OK, rig_helper_acquired(behind));
    assert_status(OK, rig_helper_finish(behind));
}
