/* SPDX-License-Identifier: MIT */
/* etcd_trouble.c -- the lock etcd on three real members whose disk is full, that are stopped, lose
 * their data, or lose a member for good; and with two hundred waiters. */
#include "tests/registered.h"
#include "tests/topology/etcd_members.h"

#include <dirent.h>
#include <pthread.h>
#include <stdatomic.h>

#include "lock/dlock.h"

enum {
    TIMEOUT_MS = 2000,
    LEASE_MS = 6000,
    SHORT_LEASE_MS = 2000,
    STILL_MS = 3000,
    WAITERS = 200,
    SPARE_SOCKETS = 32, /* for requests under way, and for connections that are kept open */
    COMMAND_SIZE = 512,
};

static dlock_system *open_locks(int lease_ms)
{
    dlock_options opts = dlock_options_default();
    dlock_system *sys;

    opts.variant = "etcd";
    opts.etcd_url = company.urls;
    opts.etcd_timeout_ms = TIMEOUT_MS;
    opts.lease_ms = lease_ms;
    opts.watchdog = true;
    assert_int_equal(DLOCK_OK, dlock_open(&sys, &opts));
    return sys;
}

/* Send a POST to the first member. Returns true if it answered without an error. */
static bool post(const char *path, const char *body)
{
    char command[COMMAND_SIZE];

    snprintf(command, sizeof(command),
             "curl -sf --max-time 10 -o /dev/null -d '%s' http://127.0.0.1:%d%s", body,
             company.ports[0], path);
    return system(command) == 0;
}

static bool is_taken(dlock_system *sys, const char *name)
{
    dlock_lease lease;

    return dlock_acquire(sys, name, 0, &lease) == DLOCK_OK &&
           dlock_release(sys, &lease) == DLOCK_OK;
}

/* A full etcd grants nothing, and the error names the reason. A holder can go on, and release its
 * lock. */
TEST_WITH(mend, NULL, a_full_etcd_is_named_and_lets_holders_leave)
{
    dlock_system *sys = open_locks(SHORT_LEASE_MS), *other = open_locks(SHORT_LEASE_MS);
    dlock_lease held, lease;
    int64_t until_ns;

    assert_int_equal(DLOCK_OK, dlock_acquire(sys, "held", 0, &held));
    assert_true(post("/v3/maintenance/alarm", "{\"action\":\"ACTIVATE\",\"alarm\":\"NOSPACE\"}"));
    assert_int_equal(DLOCK_IO, dlock_acquire(other, "full", 0, &lease));
    assert_non_null(strstr(dlock_error(), "database space exceeded"));
    assert_int_equal(DLOCK_IO, dlock_acquire(other, "held", 500, &lease));
    until_ns = dlock_clock_after(dlock_clock_ns(), 2 * SHORT_LEASE_MS);
    while (dlock_clock_ns() < until_ns) {
        assert_true(dlock_lease_valid(sys, &held));
        pause_ms(50);
    }
    assert_int_equal(DLOCK_OK, dlock_release(sys, &held));
    assert_true(post("/v3/maintenance/alarm", "{\"action\":\"DEACTIVATE\",\"alarm\":\"NOSPACE\"}"));
    assert_comes(is_taken(other, "full"));
    assert_comes(is_taken(other, "held"));
    dlock_close(other);
    dlock_close(sys);
}

/* The members do not answer for longer than a lease. Requests without an answer must leave nothing
 * in etcd. */
TEST_WITH(mend, NULL, members_that_stand_still_let_nobody_in)
{
    dlock_system *sys = open_locks(SHORT_LEASE_MS), *other = open_locks(SHORT_LEASE_MS);
    dlock_lease held, lease;
    dlock_status st;
    int64_t asked_ns;

    assert_int_equal(DLOCK_OK, dlock_acquire(sys, "held", 0, &held));
    for (int i = 0; i < MEMBERS; i++)
        pause_member(i);
    asked_ns = dlock_clock_ns();
    st = dlock_acquire(other, "free", 0, &lease);
    assert_true(st == DLOCK_IO || st == DLOCK_UNKNOWN);
    st = dlock_acquire(other, "held", 500, &lease);
    assert_true(st == DLOCK_IO || st == DLOCK_UNKNOWN || st == DLOCK_TIMEOUT);
    assert_true(dlock_clock_ns() - asked_ns < 8 * TIMEOUT_MS * DLOCK_NS_PER_MS);
    assert_comes(!dlock_lease_valid(sys, &held));
    pause_ms(STILL_MS);
    mend_company();
    assert_comes(is_taken(sys, "free"));
    assert_comes(is_taken(sys, "held")); /* also by the thread that lost it */
    assert_int_equal(DLOCK_LOST, dlock_release(sys, &held));
    dlock_close(other);
    dlock_close(sys);
}

static void *wait_for_held(void *arg)
{
    dlock_lease lease;
    dlock_status st = dlock_acquire(arg, "held", PATIENCE_MS, &lease);

    if (st == DLOCK_OK)
        st = dlock_release(arg, &lease);
    return (void *)(uintptr_t)st;
}

/* All members come back with empty directories. The holder learns of its loss, and a waiter gets
 * the lock. */
TEST_WITH(mend, NULL, an_etcd_that_forgot_everything_is_noticed)
{
    dlock_system *sys = open_locks(LEASE_MS), *other = open_locks(LEASE_MS);
    dlock_lease held;
    char command[COMMAND_SIZE];
    pthread_t waiter;
    dlock_info info = {.waiter_count = 0};
    void *answer;

    assert_int_equal(DLOCK_OK, dlock_acquire(sys, "held", 0, &held));
    assert_int_equal(0, pthread_create(&waiter, NULL, wait_for_held, other));
    assert_comes(dlock_inspect(sys, "held", &info) == DLOCK_OK && info.waiter_count == 1);
    for (int i = 0; i < MEMBERS; i++)
        kill_member(i);
    snprintf(command, sizeof(command), "cd %s && rm -rf e0 e1 e2", company.dir);
    assert_int_equal(0, system(command));
    mend_company();
    assert_comes(!dlock_lease_valid(sys, &held));
    assert_int_equal(0, pthread_join(waiter, &answer));
    assert_int_equal(DLOCK_OK, (dlock_status)(uintptr_t)answer);
    assert_int_equal(DLOCK_LOST, dlock_release(sys, &held));
    assert_comes(is_taken(sys, "held"));
    dlock_close(other);
    dlock_close(sys);
}

/* ---- many waiters ---- */

static struct {
    dlock_system *sys;
    atomic_int inside, overlaps, grants, failures, unsure;
    _Atomic uint64_t fence;
    atomic_int backward;
} contest;

static void *wait_in_line(void *arg)
{
    dlock_lease lease;
    dlock_status st;

    (void)arg;
    if (dlock_acquire(contest.sys, "contested", 4 * PATIENCE_MS, &lease) != DLOCK_OK) {
        atomic_fetch_add(&contest.failures, 1);
        return NULL;
    }
    atomic_fetch_add(&contest.overlaps, atomic_fetch_add(&contest.inside, 1) != 0);
    atomic_fetch_add(&contest.backward,
                     atomic_exchange(&contest.fence, lease.fence) >= lease.fence);
    atomic_fetch_sub(&contest.inside, 1);
    atomic_fetch_add(&contest.grants, 1);
    /* While the leader dies, a release may get no answer. The other waiters must still get the
     * lock. */
    st = dlock_release(contest.sys, &lease);
    atomic_fetch_add(&contest.unsure, st == DLOCK_UNKNOWN || st == DLOCK_IO);
    atomic_fetch_add(&contest.failures, st != DLOCK_OK && st != DLOCK_UNKNOWN && st != DLOCK_IO);
    return NULL;
}

static int count_sockets(void)
{
    DIR *dir = opendir("/proc/self/fd");
    char path[300], target[64];
    int count = 0;

    assert_non_null(dir);
    for (struct dirent *entry; (entry = readdir(dir)) != NULL;) {
        ssize_t len;

        snprintf(path, sizeof(path), "/proc/self/fd/%s", entry->d_name);
        len = readlink(path, target, sizeof(target) - 1);
        target[len > 0 ? len : 0] = '\0';
        count += strncmp(target, "socket:", 7) == 0;
    }
    closedir(dir);
    return count;
}

static bool all_wait(void)
{
    dlock_info info;

    return dlock_inspect(contest.sys, "contested", &info) == DLOCK_OK &&
           info.waiter_count == WAITERS;
}

/* Each of two hundred threads gets the lock once, while a leader dies. The threads share one watch.
 * After the system was closed, no more connections are left than the server keeps open. */
TEST_WITH(mend, NULL, many_waiters_share_a_watch_and_outlive_a_leader)
{
    pthread_t threads[WAITERS];
    int sockets = count_sockets();
    dlock_lease first;

    memset(&contest, 0, sizeof(contest));
    contest.sys = open_locks(LEASE_MS);
    assert_int_equal(DLOCK_OK, dlock_acquire(contest.sys, "contested", 0, &first));
    for (int i = 0; i < WAITERS; i++)
        assert_int_equal(0, pthread_create(&threads[i], NULL, wait_in_line, NULL));
    assert_comes(all_wait());
    assert_int_equal(DLOCK_OK, dlock_release(contest.sys, &first));
    assert_comes(atomic_load(&contest.grants) > WAITERS / 4);
    assert_comes(leader() >= 0);
    kill_member(leader());
    for (int i = 0; i < WAITERS; i++)
        assert_int_equal(0, pthread_join(threads[i], NULL));
    assert_int_equal(0, atomic_load(&contest.failures));
    assert_int_equal(0, atomic_load(&contest.overlaps));
    assert_int_equal(0, atomic_load(&contest.backward));
    assert_int_equal(WAITERS, atomic_load(&contest.grants));
    assert_true(atomic_load(&contest.unsure) <= 2);
    print_message("# sockets: %d before, %d at the end\n", sockets, count_sockets());
    dlock_close(contest.sys);
    assert_true(count_sockets() <= sockets + SPARE_SOCKETS);
    mend_company();
}

GROUP(set_up, tear_down)
