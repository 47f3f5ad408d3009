/* SPDX-License-Identifier: MIT */
/* test_wait_record.c -- a waiter of pg-advisory that is granted the lock as its wait ends releases
 * it, and its record explains why others were refused in this time. */
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <unistd.h>

#include "tests/unit/recorder_run.h"
#include "tests/service/rig.h"

enum { WAIT_MS = 300, SHORT_MS = 20, TRIES_MAX = 50 };

#define NAME "granted as the wait ends"

static dlock_system *open_system(void)
{
    dlock_options opts = dlock_options_default();
    dlock_system *sys = NULL;

    opts.variant = "pg-advisory";
    opts.database_url = rig_environment("SECKILL_LAB_DATABASE_URL");
    opts.database_timeout_ms = RIG_PATIENCE_MS;
    opts.record_dir = dir;
    assert_int_equal(DLOCK_OK, dlock_open(&sys, &opts));
    return sys;
}

struct waiter {
    dlock_system *sys;
    dlock_status answer;
    pthread_t thread;
};

static void *wait_once(void *arg)
{
    struct waiter *waiter = arg;
    dlock_lease lease;

    waiter->answer = dlock_acquire(waiter->sys, NAME, WAIT_MS, &lease);
    if (waiter->answer == DLOCK_OK)
        (void)dlock_release(waiter->sys, &lease);
    return NULL;
}

/* The process of PostgreSQL whose session waits for an advisory lock; 0: there is none. */
static pid_t waiting_backend(void)
{
    static const struct postgres_statement WAITING = {
        "rig_waiting",
        "SELECT coalesce(max(pid), 0)::bigint FROM pg_locks JOIN pg_stat_activity USING (pid)"
        " WHERE NOT granted AND locktype = 'advisory' AND application_name = 'dlock-' || $1",
        "i"};

    assert_int_equal(DB_OK, db_run_one(rig_db(), &WAITING, DB_VALUES(DB_INT(getpid()))));
    return (pid_t)db_int(rig_db(), 0, 0, 0);
}

/* Stop the process of PostgreSQL in which the waiter waits. Returns true if it was stopped in
 * time. */
static bool stop_waiting(pid_t *backend)
{
    int64_t give_up_ns = dlock_clock_ns() + WAIT_MS * DLOCK_NS_PER_MS;

    while ((*backend = waiting_backend()) == 0 && dlock_clock_ns() < give_up_ns)
        ;
    return *backend > 1 && kill(*backend, SIGSTOP) == 0 && waiting_backend() == *backend;
}

/* The waiter's process in the server is stopped until the wait has ended, and then grants the lock.
 * Another owner asks in this time. Returns false if the machine was too busy for that. */
static bool does_grant_meet_the_end(dlock_system *holder, struct waiter *waiter)
{
    dlock_lease lease;
    pid_t backend;
    bool is_stopped;

    assert_int_equal(DLOCK_OK, dlock_acquire(holder, NAME, -1, &lease));
    assert_int_equal(0, pthread_create(&waiter->thread, NULL, wait_once, waiter));
    is_stopped = stop_waiting(&backend);
    assert_int_equal(DLOCK_OK, dlock_release(holder, &lease));
    if (is_stopped) {
        assert_int_equal(DLOCK_TIMEOUT, dlock_acquire(holder, NAME, SHORT_MS, &lease));
        dlock_clock_sleep_until(dlock_clock_after(dlock_clock_ns(), WAIT_MS));
    }
    if (backend > 1)
        (void)kill(backend, SIGCONT);
    pthread_join(waiter->thread, NULL);
    return is_stopped && waiter->answer == DLOCK_TIMEOUT;
}

TEST_WITH(make_dir, remove_dir, a_grant_as_the_wait_ends_explains_a_refusal)
{
    dlock_system *holder = open_system();
    struct waiter waiter = {.sys = open_system()};
    int tries = 1;
    struct history h;

    while (!does_grant_meet_the_end(holder, &waiter))
        assert_true(tries++ < TRIES_MAX);
    dlock_close(holder);
    dlock_close(waiter.sys);
    h = read_back();
    assert_int_equal(VERDICT_VALID, judge(&h));
    history_free(&h);
}
