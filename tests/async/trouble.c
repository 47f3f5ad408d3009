/* SPDX-License-Identifier: MIT */
/* trouble.c -- asynchronous calls while servers end or stop, lose locks, or are polled late. */
#include <signal.h>
#include <string.h>
#include <unistd.h>

#include "base/os/event.h"
#include "tests/async/rig.h"

static void a_wait_outlives_a_restart_of_its_server(void)
{
    const char *name = rig_name();
    static struct async_answer held, waiting[5];

    async_opts.variant = "reentrant";
    async_open();
    assert_status(OK, async_acquire(name, 0, &held));
    for (int i = 0; i < 5; i++)
        async_ask(name, -1, &waiting[i]);
    for (int i = 0; i < 10; i++)
        async_drive();
    servers_signal(0, 1, SIGKILL);
    for (int i = 0; i < 20; i++)
        async_drive();
    servers_restart(0); /* the restarted server has no locks */
    for (int served = 0; served < 5; served++) {
        int which = -1;

        for (int give_up = 0; which < 0; give_up++) {
            for (int i = 0; i < 5; i++)
                if (atomic_load(&waiting[i].count) == 1)
                    which = i;
            async_drive();
            assert_true(give_up < 100000);
        }
        assert_status(OK, waiting[which].status);
        assert_status(OK, async_release(&waiting[which].lease));
        atomic_store(&waiting[which].count, 2);
    }
}

static void a_dead_server_is_told_at_once(void)
{
    static struct async_answer answer;

    async_open();
    assert_status(OK, async_acquire(rig_name(), 0, &answer));
    assert_status(OK, async_release(&answer.lease));
    servers_signal(0, 1, SIGKILL);
    (void)async_acquire(rig_name(), 0, &answer);
    assert_true(answer.status == DLOCK_IO || answer.status == DLOCK_UNKNOWN);
    assert_true(answer.error[0] != '\0');
}

/* The calls end by their timeout, and the interface executes other calls after that. */
static void a_server_that_stands_still_is_unknown(void)
{
    static struct async_answer answers[10];

    async_opts.redis_timeout_ms = STRETCHED(150);
    async_open();
    assert_status(OK, async_acquire(rig_name(), 0, &answers[0]));
    servers_signal(0, 1, SIGSTOP);
    for (int i = 0; i < 10; i++)
        async_ask(rig_name(), 0, &answers[i]);
    for (int i = 0; i < 10; i++) {
        (void)async_wait(&answers[i]);
        assert_true(answers[i].status == DLOCK_UNKNOWN || answers[i].status == DLOCK_IO);
    }
    servers_signal(0, 1, SIGCONT);
    assert_driven(async_acquire(rig_name(), 0, &answers[0]) == DLOCK_OK);
}

static void a_loss_is_told_and_seen(void)
{
    const char *name = rig_name();
    static struct async_answer held;
    int lost_fd;

    async_opts.variant = "reentrant";
    async_opts.watchdog = true;
    async_opts.lease_ms = KEPT_LEASE_MS;
    async_open();
    lost_fd = dlock_lost_fd(async_sys);
    assert_true(lost_fd >= 0);
    assert_status(OK, async_acquire(name, 0, &held));
    (void)servers_tell(0, "DEL %s", name);
    assert_driven(dlock_poll_one(lost_fd, POLLIN, 0) == POLLIN);
    assert_false(dlock_lease_valid(async_sys, &held.lease));
    assert_status(LOST, async_release(&held.lease));
}

/* No thread runs the interface, and the watchdog still renews the lease. */
static void the_watchdog_renews_while_nobody_polls(void)
{
    static struct async_answer held;

    async_opts.variant = "reentrant";
    async_opts.watchdog = true;
    async_opts.lease_ms = KEPT_LEASE_MS;
    async_open();
    assert_status(OK, async_acquire(rig_name(), 0, &held));
    premise_watch_pace();
    for (int64_t end_ms = rig_now_ms() + 2 * KEPT_LEASE_MS; rig_now_ms() < end_ms;) {
        assert_provided(is_steady(KEPT_LEASE_MS), dlock_lease_valid(async_sys, &held.lease));
        rig_pause_ms(5);
    }
    assert_status_provided(is_steady(KEPT_LEASE_MS), OK, async_release(&held.lease));
}

/* After a close nothing renews the lease, so it ends. */
static void after_a_close_nobody_renews(void)
{
    static struct async_answer held;

    async_opts.variant = "reentrant";
    async_opts.watchdog = true;
    async_opts.lease_ms = SHORT_LEASE_MS;
    async_open();
    assert_status(OK, async_acquire(rig_name(), 0, &held));
    assert_status(OK, dlock_async_close(async_it));
    async_it = NULL;
    assert_comes(!dlock_lease_valid(async_sys, &held.lease));
}

/* The answer arrived long before the poll, and the server's timeout has passed since then. The
 * interface still takes the answer. */
static void a_late_poll_takes_the_answers_that_came(void)
{
    static struct async_answer answers[20];
    int64_t asked_ms;

    async_opts.redis_timeout_ms = STRETCHED(200);
    async_open();
    assert_driven(async_acquire(rig_name(), 0, &answers[0]) == DLOCK_OK);
    asked_ms = rig_now_ms();
    for (int i = 0; i < 20; i++)
        async_ask(rig_name(), 0, &answers[i]);
    if (!async_has_thread)
        assert_true(dlock_poll(async_it, 0) >= 0); /* sends the requests */
    presume(rig_now_ms() - asked_ms < STRETCHED(100));
    rig_pause_ms(STRETCHED(700));
    if (!async_has_thread)
        presume(servers_ask(0, "DBSIZE") == 21); /* the server has answered within the timeout */
    for (int i = 0; i < 20; i++)
        assert_status(OK, async_wait(&answers[i]));
}

/* An asynchronous call is under way, and no thread runs its interface. Blocking calls of the same
 * system go on. */
static void a_thread_does_not_wait_for_the_interface(void)
{
    static struct async_answer answer;
    dlock_lease lease;

    async_open();
    assert_status(OK, async_acquire(rig_name(), 0, &answer));
    async_ask(rig_name(), 0, &answer);
    if (!async_has_thread)
        assert_true(dlock_poll(async_it, 0) >= 0); /* sends the request */
    assert_status(OK, dlock_acquire(async_sys, rig_name(), 0, &lease));
    assert_status(OK, dlock_release(async_sys, &lease));
    assert_status(OK, async_wait(&answer));
}

struct async_test async_trouble_tests[] = {
    ASYNC_TEST(a_wait_outlives_a_restart_of_its_server),
    ASYNC_TEST(a_dead_server_is_told_at_once),
    ASYNC_TEST(a_server_that_stands_still_is_unknown),
    ASYNC_TEST(a_loss_is_told_and_seen),
    ASYNC_TEST(the_watchdog_renews_while_nobody_polls),
    ASYNC_TEST(after_a_close_nobody_renews),
    ASYNC_TEST(a_thread_does_not_wait_for_the_interface),
    ASYNC_TEST(a_late_poll_takes_the_answers_that_came),
    {.name = NULL},
};
