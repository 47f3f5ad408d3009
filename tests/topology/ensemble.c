/* SPDX-License-Identifier: MIT */
/* ensemble.c -- locks in a ZooKeeper ensemble of the laboratory while its leader is killed or
 * stopped, the server of a session goes away, or the quorum is lost. */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/os/clock.h"
#include "loadtest/lab/lab.h"
#include "lock/dlock.h"
#include "tests/registered.h"
#include "tests/unit/scratch.h"

enum {
    PATIENCE_MS = 60000, /* the limit for states that have to come */
    LONG_MS = 40000,     /* longer than an election on a busy machine */
    SESSION_MS = 1200,   /* less than the 2 s after which a follower leaves a silent leader */
    TIMEOUT_MS = 3000,
    /* The most by which this program may be late; a follower answers for 2 s alone. */
    LATE_MS = 1000,
    SERVERS = LAB_COUNT_ENSEMBLE,
};

static struct lab lab;
static char dir[SCRATCH_SIZE];
static const char *const variants[] = {"zk-basic", "zk-seq"};

#define assert_comes(state)                                                            \
    do {                                                                               \
        int64_t end_ns_ = dlock_clock_after(dlock_clock_ns(), PATIENCE_MS);            \
        while (!(state)) {                                                             \
            assert_true(dlock_clock_ns() < end_ns_);                                   \
            pause_ms(5);                                                               \
        }                                                                              \
    } while (0)

static void pause_ms(int ms)
{
    struct timespec ts = {.tv_sec = ms / 1000, .tv_nsec = ms % 1000 * 1000000L};

    nanosleep(&ts, NULL);
}

static bool stands(void)
{
    char why[LAB_WHY_MAX];

    return lab_topology_stands(&lab, LAB_TOPOLOGY_ENSEMBLE, why);
}

static bool has_part(int i, const char *part)
{
    char found[LAB_PART_MAX];

    lab_server_describe(&lab, lab_server(&lab, LAB_ENSEMBLE, i), found);
    return strcmp(found, part) == 0;
}

/* The server that has that part in the ensemble now. */
static int server_with(const char *part)
{
    for (int i = 0; i < SERVERS; i++)
        if (has_part(i, part))
            return i;
    return -1;
}

static struct child *process(int i)
{
    return &lab_server(&lab, LAB_ENSEMBLE, i)->child;
}

static void kill_server(int i)
{
    assert_int_equal(EXIT_VALID, lab_kill(&lab, lab_server_name(&lab, LAB_ENSEMBLE, i)));
}

static void start_server(int i)
{
    assert_int_equal(EXIT_VALID, lab_restart(&lab, lab_server_name(&lab, LAB_ENSEMBLE, i)));
}

/* Open a system that knows all servers, or only server `only`. */
static dlock_system *open_system(const char *variant, int only, int session_ms)
{
    dlock_options opts = dlock_options_default();
    dlock_system *sys = NULL;
    char url[128] = "";

    for (int i = 0; i < SERVERS; i++)
        if (only < 0 || i == only)
            snprintf(url + strlen(url), sizeof(url) - strlen(url), "%s127.0.0.1:%d",
                     url[0] != '\0' ? "," : "", lab_port(&lab, LAB_ENSEMBLE, i));
    opts.variant = variant;
    opts.zookeeper_url = url;
    opts.zookeeper_timeout_ms = TIMEOUT_MS;
    opts.lease_ms = session_ms;
    assert_int_equal(DLOCK_OK, dlock_open(&sys, &opts));
    return sys;
}

static bool enters(dlock_system *sys, dlock_lease *lease)
{
    return dlock_acquire(sys, "voucher", TIMEOUT_MS, lease) == DLOCK_OK;
}

/* The lease is valid, and no other system gets the lock. */
static void assert_kept(dlock_system *holder, const dlock_lease *lease, dlock_system *other)
{
    dlock_lease stolen;

    assert_true(dlock_lease_valid(holder, lease));
    assert_int_not_equal(DLOCK_OK, dlock_acquire(other, "voucher", 0, &stolen));
}

static void session_outlives(const char *variant, int killed)
{
    dlock_system *holder = open_system(variant, -1, LONG_MS);
    dlock_system *other = open_system(variant, -1, LONG_MS);
    dlock_lease lease, next;
    uint64_t fence;

    assert_comes(enters(holder, &lease));
    fence = lease.fence;
    kill_server(killed);
    assert_comes(server_with("leader") >= 0);
    assert_kept(holder, &lease, other);
    assert_comes(dlock_check(holder) == DLOCK_OK);
    assert_true(dlock_lease_valid(holder, &lease));
    assert_int_equal(DLOCK_OK, dlock_release(holder, &lease));
    assert_comes(enters(other, &next));
    assert_true(next.fence > fence);
    assert_int_equal(DLOCK_OK, dlock_release(other, &next));
    start_server(killed);
    assert_comes(stands());
    dlock_close(holder);
    dlock_close(other);
}

/* Each test begins with all servers, whatever the test before has left. */
static int restore(void **state)
{
    (void)state;
    for (int i = 0; i < SERVERS; i++) {
        child_signal(process(i), SIGCONT);
        if (!child_runs(process(i)))
            start_server(i);
    }
    assert_comes(stands());
    return 0;
}

TEST_WITH(restore, NULL, a_killed_leader_takes_no_lock)
{
    for (size_t i = 0; i < 2; i++)
        session_outlives(variants[i], server_with("leader"));
}

TEST_WITH(restore, NULL, a_session_moves_to_another_server)
{
    /* The session may be at either follower, so each of the two rounds kills one of them. */
    for (size_t i = 0; i < 2; i++)
        for (int server = 0; server < SERVERS; server++)
            if (server != server_with("leader"))
                session_outlives(variants[i], server);
}

/* A follower answers reads for two more seconds after its last message from the leader. The leader
 * may have ended the session in this time, so the holder must not count on such answers. */
static void a_follower_alone_vouches_for_nothing(const char *variant)
{
    int leader = server_with("leader"), follower = server_with("follower");
    dlock_system *holder = open_system(variant, follower, SESSION_MS);
    dlock_lease lease;
    int64_t stopped_ns;

    assert_comes(enters(holder, &lease));
    stopped_ns = dlock_clock_ns();
    child_signal(process(leader), SIGSTOP);
    while (dlock_lease_valid(holder, &lease))
        assert_true(dlock_clock_ns() < dlock_clock_after(stopped_ns, SESSION_MS + LATE_MS));
    child_signal(process(leader), SIGCONT);
    assert_int_equal(DLOCK_LOST, dlock_release(holder, &lease));
    dlock_close(holder);
    assert_comes(stands());
}

TEST_WITH(restore, NULL, a_cut_off_follower_is_not_believed)
{
    for (size_t i = 0; i < 2; i++)
        a_follower_alone_vouches_for_nothing(variants[i]);
}

/* Without a quorum no server reports that a session has expired, so the holder's own clock has to
 * end the lease. */
static void a_lost_quorum_ends_the_lease(const char *variant)
{
    dlock_system *holder = open_system(variant, -1, SESSION_MS);
    dlock_system *other = open_system(variant, -1, SESSION_MS);
    dlock_lease lease, next;
    int first = server_with("follower"), second = server_with("leader");
    int64_t broken_ns;

    assert_comes(enters(holder, &lease));
    broken_ns = dlock_clock_ns();
    kill_server(first);
    kill_server(second);
    assert_comes(!dlock_lease_valid(holder, &lease));
    print_message("# %s: the lease ended %lld ms after the quorum\n", variant,
                  (long long)(dlock_clock_ns() - broken_ns) / DLOCK_NS_PER_MS);
    assert_int_not_equal(DLOCK_OK, dlock_acquire(other, "voucher", 0, &next));
    assert_int_not_equal(DLOCK_OK, dlock_check(other));
    start_server(first);
    start_server(second);
    assert_comes(stands());
    assert_comes(enters(other, &next));
    assert_true(next.fence > lease.fence);
    assert_int_equal(DLOCK_LOST, dlock_release(holder, &lease));
    assert_int_equal(DLOCK_OK, dlock_release(other, &next));
    dlock_close(holder);
    dlock_close(other);
}

TEST_WITH(restore, NULL, a_quorum_is_lost_and_back)
{
    for (size_t i = 0; i < 2; i++)
        a_lost_quorum_ends_the_lease(variants[i]);
}

static int start_lab(void **state)
{
    bool was_up;

    (void)state;
    scratch_make(dir, "ensemble");
    assert_int_equal(EXIT_VALID, lab_keep(&lab, dir, LAB_WITH(ENSEMBLE), &was_up));
    return 0;
}

static int end_lab(void **state)
{
    bool was_there;

    (void)state;
    return lab_remove(dir, &was_there) == EXIT_VALID ? 0 : 1;
}

GROUP(start_lab, end_lab)
