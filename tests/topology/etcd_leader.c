/* SPDX-License-Identifier: MIT */
/* etcd_leader.c -- the lock etcd on three real members that are killed and stopped while threads
 * acquire and release locks; and together with `etcdctl lock`. */
#include "tests/registered.h"
#include "tests/topology/etcd_members.h"

#include <pthread.h>
#include <stdatomic.h>

#include "lock/dlock.h"
#include "tests/topology/lateness.h"

enum {
    WORKERS = 6,
    NAMES = 2,
    TIMEOUT_MS = 2000,
    LEASE_MS = 12000, /* longer than all pauses that STALL_MS allows */
    SHORT_LEASE_MS = 2000,
    STALL_MS = 6000, /* for an election, and for the timeouts of requests under way */
    PAUSED_MS = 3000,
    TURNS = 5,
};

static struct {
    dlock_system *sys;
    atomic_bool stopping;
    pthread_t threads[WORKERS];
    int thread_count; /* 0: none was started, or all have ended */
    atomic_int inside[NAMES];
    _Atomic uint64_t fences[NAMES];
    atomic_int overlaps, backward, grants;
    _Atomic int64_t granted_ns;
    atomic_int lost_count;
} run;

static void note_loss(const dlock_lease *lease, void *arg)
{
    (void)arg;
    if (strcmp(lease->name, "held") == 0)
        atomic_fetch_add(&run.lost_count, 1);
}

static dlock_options options(int lease_ms)
{
    dlock_options opts = dlock_options_default();

    opts.variant = "etcd";
    opts.etcd_url = company.urls;
    opts.etcd_timeout_ms = TIMEOUT_MS;
    opts.lease_ms = lease_ms;
    opts.watchdog = true;
    return opts;
}

/* Acquire and release one of the names until the end. The work of a hold counts if the lease is
 * valid after it. */
static void *work(void *arg)
{
    int which = (int)((uintptr_t)arg % NAMES);
    char name[16];

    snprintf(name, sizeof(name), "work-%d", which);
    while (!atomic_load(&run.stopping)) {
        dlock_lease lease;
        bool overlaps;
        uint64_t before;

        if (dlock_acquire(run.sys, name, 20000, &lease) != DLOCK_OK)
            continue;
        before = atomic_exchange(&run.fences[which], lease.fence);
        overlaps = atomic_fetch_add(&run.inside[which], 1) != 0;
        pause_ms(1);
        atomic_fetch_sub(&run.inside[which], 1);
        if (dlock_lease_valid(run.sys, &lease)) {
            atomic_fetch_add(&run.overlaps, overlaps);
            atomic_fetch_add(&run.backward, before >= lease.fence);
            atomic_fetch_add(&run.grants, 1);
            atomic_store(&run.granted_ns, dlock_clock_ns());
        }
        (void)dlock_release(run.sys, &lease);
    }
    return NULL;
}

static bool goes_on(int from)
{
    return atomic_load(&run.grants) >= from + 4 * WORKERS;
}

static void begin(void)
{
    dlock_options opts = options(LEASE_MS);

    memset(&run, 0, sizeof(run));
    opts.on_lost = note_loss;
    assert_int_equal(DLOCK_OK, dlock_open(&run.sys, &opts));
    assert_true(lateness_begin());
    for (uintptr_t i = 0; i < WORKERS; i++, run.thread_count++)
        assert_int_equal(0, pthread_create(&run.threads[i], NULL, work, (void *)i));
    assert_comes(goes_on(0));
}

/* Clean up, also after a failed test: end its threads, which would use the state of the next
 * test. */
static int stop_work(void **state)
{
    (void)state;
    atomic_store(&run.stopping, true);
    for (; run.thread_count > 0; run.thread_count--)
        pthread_join(run.threads[run.thread_count - 1], NULL);
    lateness_end();
    dlock_close(run.sys);
    run.sys = NULL;
    return 0;
}

static void end(void)
{
    stop_work(NULL);
    assert_int_equal(0, atomic_load(&run.overlaps));
    assert_int_equal(0, atomic_load(&run.backward));
}

/* begin_fault() causes the fault. A held lock and the work must outlive it. */
static void outlive(void (*begin_fault)(void), const char *what)
{
    dlock_lease held;
    int64_t broken_ns, resumed_ns, late_ns;

    begin();
    for (int turn = 0; turn < TURNS; turn++) {
        int grants;

        assert_int_equal(DLOCK_OK, dlock_acquire(run.sys, "held", 0, &held));
        assert_comes(leader() >= 0);
        broken_ns = dlock_clock_ns();
        late_ns = lateness_ns();
        begin_fault();
        grants = atomic_load(&run.grants);
        assert_comes(goes_on(grants));
        resumed_ns = atomic_load(&run.granted_ns);
        late_ns = lateness_ns() - late_ns;
        print_message(
            "# %s: work went on after %lld ms, for %lld of which there was no processor\n", what,
            (long long)(resumed_ns - broken_ns) / DLOCK_NS_PER_MS,
            (long long)late_ns / DLOCK_NS_PER_MS);
        assert_true(resumed_ns - broken_ns - late_ns < STALL_MS * DLOCK_NS_PER_MS);
        assert_true(dlock_lease_valid(run.sys, &held));
        pause_ms(turn == 0 ? PAUSED_MS : 0);
        mend_company();
        assert_true(dlock_lease_valid(run.sys, &held));
        assert_int_equal(DLOCK_OK, dlock_release(run.sys, &held));
        assert_int_equal(0, atomic_load(&run.lost_count));
    }
    end();
}

static void kill_leader(void)
{
    kill_member(leader());
}

static void pause_leader(void)
{
    pause_member(leader());
}

static void kill_follower(void)
{
    kill_member((leader() + 1) % MEMBERS);
}

TEST_WITH(mend, stop_work, outlives_a_killed_leader)
{
    outlive(kill_leader, "leader killed");
}

TEST_WITH(mend, stop_work, outlives_a_stopped_leader)
{
    outlive(pause_leader, "leader stopped");
}

TEST_WITH(mend, stop_work, a_lost_minority_loses_nothing)
{
    outlive(kill_follower, "follower killed");
}

/* Without a majority no thread gets a lock, and a holder stops at its own deadline. With a majority
 * again, the work goes on, and no lock from before is lost. */
TEST_WITH(mend, NULL, a_lost_majority_lets_nobody_in)
{
    dlock_options opts = options(SHORT_LEASE_MS);
    dlock_lease held, next;
    dlock_system *sys;
    dlock_status st;
    int64_t asked_ns;

    assert_int_equal(DLOCK_OK, dlock_open(&sys, &opts));
    assert_int_equal(DLOCK_OK, dlock_acquire(sys, "held", 0, &held));
    kill_member(0);
    kill_member(1);
    asked_ns = dlock_clock_ns();
    st = dlock_acquire(sys, "other", 0, &next);
    assert_true(st == DLOCK_IO || st == DLOCK_UNKNOWN);
    assert_true(dlock_clock_ns() - asked_ns < 4 * TIMEOUT_MS * DLOCK_NS_PER_MS);
    assert_comes(!dlock_lease_valid(sys, &held));
    assert_int_equal(DLOCK_IO, dlock_check(sys));
    assert_int_not_equal(DLOCK_OK, dlock_release(sys, &held));
    mend_company();
    assert_int_equal(DLOCK_OK, dlock_acquire(sys, "held", PATIENCE_MS, &next));
    assert_true(next.fence > held.fence);
    assert_int_equal(DLOCK_OK, dlock_release(sys, &next));
    dlock_close(sys);
}

/* A member that missed many changes must know the holder when it is back. */
TEST_WITH(mend, NULL, a_member_that_comes_back_knows_the_holder)
{
    dlock_options opts = options(LEASE_MS);
    char url[URL_SIZE];
    dlock_system *sys, *alone;
    dlock_lease lease;

    assert_int_equal(DLOCK_OK, dlock_open(&sys, &opts));
    assert_int_equal(DLOCK_OK, dlock_acquire(sys, "held", 0, &lease));
    assert_int_equal(DLOCK_OK, dlock_release(sys, &lease));
    kill_member(2);
    for (int i = 0; i < 50; i++) {
        assert_int_equal(DLOCK_OK, dlock_acquire(sys, "held", 0, &lease));
        if (i < 49)
            assert_int_equal(DLOCK_OK, dlock_release(sys, &lease));
    }
    launch(2);
    snprintf(url, sizeof(url), "http://127.0.0.1:%d", company.ports[2]);
    opts.etcd_url = url;
    assert_comes(dlock_open(&alone, &opts) == DLOCK_OK);
    assert_int_equal(DLOCK_BUSY, dlock_acquire(alone, "held", 0, &(dlock_lease){0}));
    assert_int_equal(DLOCK_OK, dlock_release(sys, &lease));
    assert_int_equal(DLOCK_OK, dlock_acquire(alone, "held", PATIENCE_MS, &lease));
    assert_int_equal(DLOCK_OK, dlock_release(alone, &lease));
    dlock_close(alone);
    dlock_close(sys);
    mend_company();
}

/* Start another process, which holds the lock, prints that, and prints at its end whether it lost
 * the lock. */
static pid_t hold_elsewhere(int *out_fd)
{
    int fds[2];
    pid_t pid;

    assert_int_equal(0, pipe(fds));
    pid = fork();
    assert_true(pid >= 0);
    if (pid == 0) {
        dlock_options opts = options(SHORT_LEASE_MS);
        dlock_system *sys;
        dlock_lease lease;
        uint64_t fence = 0;

        prctl(PR_SET_PDEATHSIG, SIGKILL);
        if (dlock_open(&sys, &opts) != DLOCK_OK ||
            dlock_acquire(sys, "frozen", 0, &lease) != DLOCK_OK)
            _exit(1);
        fence = lease.fence;
        if (write(fds[1], &fence, sizeof(fence)) != sizeof(fence))
            _exit(2);
        kill(getpid(), SIGSTOP);
        _exit(!dlock_lease_valid(sys, &lease) && dlock_release(sys, &lease) == DLOCK_LOST ? 0 : 3);
    }
    close(fds[1]);
    *out_fd = fds[0];
    return pid;
}

/* The next holder has a greater fence, and the frozen holder notices its loss when it goes on. */
TEST_WITH(mend, NULL, a_frozen_holder_is_overtaken_and_knows_it)
{
    dlock_options opts = options(LEASE_MS);
    dlock_system *sys;
    dlock_lease lease;
    uint64_t fence = 0;
    int fd, status = 0;
    pid_t pid = hold_elsewhere(&fd);

    assert_int_equal(sizeof(fence), read(fd, &fence, sizeof(fence)));
    close(fd);
    assert_int_equal(pid, waitpid(pid, &status, WUNTRACED));
    assert_true(WIFSTOPPED(status));
    assert_int_equal(DLOCK_OK, dlock_open(&sys, &opts));
    assert_int_equal(DLOCK_BUSY, dlock_acquire(sys, "frozen", 0, &lease));
    assert_int_equal(DLOCK_OK, dlock_acquire(sys, "frozen", PATIENCE_MS, &lease));
    assert_true(lease.fence > fence);
    kill(pid, SIGCONT);
    assert_int_equal(pid, waitpid(pid, &status, 0));
    assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0);
    assert_int_equal(DLOCK_OK, dlock_release(sys, &lease));
    dlock_close(sys);
}

/* ---- beside etcdctl ---- */

/* `etcdctl lock NAME` prints the key when it holds the lock, and holds it until it is
 * interrupted. */
static pid_t lock_by_etcdctl(const char *name, int *out_fd)
{
    int fds[2];
    pid_t pid;

    assert_int_equal(0, pipe(fds));
    pid = fork();
    assert_true(pid >= 0);
    if (pid == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        setenv("ETCDCTL_API", "3", 1);
        dup2(fds[1], STDOUT_FILENO);
        execlp("etcdctl", "etcdctl", "--endpoints", company.urls + strlen("http://"), "lock",
               name, (char *)NULL);
        _exit(127);
    }
    close(fds[1]);
    assert_int_equal(0, fcntl(fds[0], F_SETFL, O_NONBLOCK));
    *out_fd = fds[0];
    return pid;
}

/* Has etcdctl printed its key, NAME/LEASE? */
static bool holds(int fd, const char *name, char *key, size_t size)
{
    ssize_t len = read(fd, key, size - 1);

    if (len <= 0)
        return false;
    key[len] = '\0';
    return strncmp(key, name, strlen(name)) == 0 && key[strlen(name)] == '/';
}

static int waiters(dlock_system *sys, const char *name)
{
    dlock_info info;

    assert_int_equal(DLOCK_OK, dlock_inspect(sys, name, &info));
    return info.waiter_count;
}

TEST_WITH(mend, NULL, contends_with_etcdctl_both_ways)
{
    const char *name = "beside/etcdctl";
    dlock_options opts = options(LEASE_MS);
    dlock_system *sys;
    dlock_lease lease;
    char key[128];
    int fd, status;
    pid_t pid;

    assert_int_equal(DLOCK_OK, dlock_open(&sys, &opts));
    assert_int_equal(DLOCK_OK, dlock_acquire(sys, name, 0, &lease));
    pid = lock_by_etcdctl(name, &fd);
    assert_comes(waiters(sys, name) == 1);
    for (int i = 0; i < 20; i++) {
        assert_false(holds(fd, name, key, sizeof(key)));
        pause_ms(10);
    }
    assert_int_equal(DLOCK_OK, dlock_release(sys, &lease));
    assert_comes(holds(fd, name, key, sizeof(key)));
    assert_int_equal(DLOCK_BUSY, dlock_acquire(sys, name, 0, &lease));
    assert_int_equal(DLOCK_TIMEOUT, dlock_acquire(sys, name, 300, &lease));
    kill(pid, SIGINT);
    assert_int_equal(DLOCK_OK, dlock_acquire(sys, name, PATIENCE_MS, &lease));
    assert_int_equal(pid, waitpid(pid, &status, 0));
    assert_int_equal(DLOCK_OK, dlock_release(sys, &lease));
    close(fd);
    dlock_close(sys);
}

GROUP(set_up, tear_down)
