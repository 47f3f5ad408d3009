/* SPDX-License-Identifier: MIT */
/* etcd_changes.c -- the lock etcd while a member is removed from its cluster, comes back as a new
 * member or as the only member of another cluster; and while all members come back without data. */
#include "tests/registered.h"
#include "tests/topology/etcd_members.h"

#include <arpa/inet.h>
#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <sys/socket.h>

#include "lock/dlock.h"
#include "lock/dlock_metrics.h"

enum {
    WORKERS = 4,
    TIMEOUT_MS = 2000,
    LEASE_MS = 20000,
    GRANTS = 300,      /* in the time in which the requests to a removed member are counted */
    ASKED_MOST = 4,    /* requests to it in this time: those that were under way, and watches */
    /* The time for which the waiter that got the lock of the empty etcd holds it. */
    HELD_MS = 1000,
    REQUESTS_MOST = 100, /* of a waiter in this time; without pauses it would send thousands */
    COMMAND_SIZE = 512,
};

static struct {
    dlock_system *sys;
    atomic_bool stopping;
    pthread_t threads[WORKERS];
    atomic_int inside, overlaps, grants, lost_count;
    _Atomic uint64_t fence;
    atomic_int backward;
} run;

static void note_loss(const dlock_lease *lease, void *arg)
{
    (void)lease;
    (void)arg;
    atomic_fetch_add(&run.lost_count, 1);
}

static dlock_system *open_locks(const char *url)
{
    dlock_options opts = dlock_options_default();
    dlock_system *sys;

    opts.variant = "etcd";
    opts.etcd_url = url;
    opts.etcd_timeout_ms = TIMEOUT_MS;
    opts.lease_ms = LEASE_MS;
    opts.watchdog = true;
    opts.on_lost = note_loss;
    assert_int_equal(DLOCK_OK, dlock_open(&sys, &opts));
    return sys;
}

/* All threads acquire one lock, and the holder notices if it loses the lock. */
static void *work(void *arg)
{
    while (!atomic_load(&run.stopping)) {
        dlock_lease lease;

        if (dlock_acquire(run.sys, "work", PATIENCE_MS, &lease) != DLOCK_OK)
            continue;
        atomic_fetch_add(&run.overlaps, atomic_fetch_add(&run.inside, 1) != 0);
        atomic_fetch_add(&run.backward, atomic_exchange(&run.fence, lease.fence) >= lease.fence);
        atomic_fetch_sub(&run.inside, 1);
        atomic_fetch_add(&run.grants, 1);
        (void)dlock_release(run.sys, &lease);
    }
    return arg;
}

static void begin_work(void)
{
    memset(&run, 0, sizeof(run));
    run.sys = open_locks(company.urls);
    for (int i = 0; i < WORKERS; i++)
        assert_int_equal(0, pthread_create(&run.threads[i], NULL, work, NULL));
    assert_comes(atomic_load(&run.grants) > WORKERS);
}

static void end_work(void)
{
    atomic_store(&run.stopping, true);
    for (int i = 0; i < WORKERS; i++)
        pthread_join(run.threads[i], NULL);
    assert_int_equal(0, atomic_load(&run.overlaps));
    assert_int_equal(0, atomic_load(&run.backward));
    assert_int_equal(0, atomic_load(&run.lost_count));
    dlock_close(run.sys);
}

static void assert_work_goes_on(int more)
{
    int grants = atomic_load(&run.grants);

    assert_comes(atomic_load(&run.grants) >= grants + more);
}

/* ---- members ---- */

/* Run etcdctl with a member that runs. Returns false if it failed. `out` gets its output in both
 * cases. */
static bool etcdctl(int by, const char *words, char *out, size_t size)
{
    char command[COMMAND_SIZE];
    size_t len;
    FILE *said;

    snprintf(command, sizeof(command), "ETCDCTL_API=3 etcdctl --endpoints=127.0.0.1:%d %s 2>&1",
             company.ports[by], words);
    said = popen(command, "r");
    assert_non_null(said);
    len = fread(out, 1, size - 1, said);
    out[len] = '\0';
    return pclose(said) == 0;
}

/* etcd accepts a change of its members only after all of them have been healthy for 5 s. */
static void change_members(int by, const char *words)
{
    char said[1024];

    assert_comes(etcdctl(by, words, said, sizeof(said)));
}

/* Remove a member by a request to another one, and wait until its process has ended by itself. */
static void remove_member(int i, int by)
{
    char list[1024], words[64], name[8];
    char *line;
    int status;

    assert_comes(etcdctl(by, "member list", list, sizeof(list)));
    snprintf(name, sizeof(name), ", e%d,", i);
    line = strstr(list, name);
    assert_non_null(line);
    while (line > list && line[-1] != '\n')
        line--;
    snprintf(words, sizeof(words), "member remove %.*s", (int)strcspn(line, ","), line);
    change_members(by, words);
    assert_comes(waitpid(company.pids[i], &status, WNOHANG) == company.pids[i]);
    company.pids[i] = 0;
}

/* Add it again as a new member with an empty disk, and wait until it serves. */
static void add_member(int i, int by)
{
    char words[96];

    snprintf(words, sizeof(words), "member add e%d --peer-urls=unix://peer-%d:1", i, i);
    change_members(by, words);
    wipe_member(i);
    company.joins[i] = true;
    launch(i);
    assert_comes(is_well(i));
}

/* A listener on the port of a removed member, which closes and counts all connections. */
static struct {
    int fd;
    pthread_t thread;
    atomic_int count;
} stranger;

static void *hang_up(void *arg)
{
    int fd;

    while ((fd = accept(stranger.fd, NULL, NULL)) >= 0) {
        atomic_fetch_add(&stranger.count, 1);
        close(fd);
    }
    return arg;
}

static void begin_to_count(int port)
{
    struct sockaddr_in at = {.sin_family = AF_INET,
                             .sin_port = htons((uint16_t)port),
                             .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    int yes = 1;

    stranger.fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    assert_int_equal(0, setsockopt(stranger.fd, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof(yes)));
    assert_int_equal(0, bind(stranger.fd, (struct sockaddr *)&at, sizeof(at)));
    assert_int_equal(0, listen(stranger.fd, 16));
    atomic_store(&stranger.count, 0);
    assert_int_equal(0, pthread_create(&stranger.thread, NULL, hang_up, NULL));
}

static int end_count(void)
{
    shutdown(stranger.fd, SHUT_RDWR);
    pthread_join(stranger.thread, NULL);
    close(stranger.fd);
    return atomic_load(&stranger.count);
}

/* ---- tests ---- */

/* Locks are held and waited for. The member that gets the requests is removed, or the leader. The
 * work goes on with the other members, without requests to the removed one, and with that member
 * after it was added again. */
static void outlive_a_removal(int removed)
{
    int by = (removed + 1) % MEMBERS, other = (removed + 2) % MEMBERS;
    dlock_lease held;
    int asked;

    begin_work();
    assert_int_equal(DLOCK_OK, dlock_acquire(run.sys, "held", 0, &held));
    remove_member(removed, by);
    assert_work_goes_on(GRANTS);
    begin_to_count(company.ports[removed]);
    assert_work_goes_on(GRANTS);
    asked = end_count();
    print_message("# a removed member was asked %d times\n", asked);
    assert_true(asked <= ASKED_MOST);
    assert_true(dlock_lease_valid(run.sys, &held));
    add_member(removed, by);
    /* The added member counts for the majority: without it and without one of the others there
     * would be none. */
    kill_member(other);
    assert_work_goes_on(GRANTS);
    mend_company();
    assert_true(dlock_lease_valid(run.sys, &held));
    assert_int_equal(DLOCK_OK, dlock_release(run.sys, &held));
    end_work();
}

TEST_WITH(mend, NULL, a_removed_member_is_left_alone)
{
    outlive_a_removal(0);
}

TEST_WITH(mend, NULL, a_removed_leader_is_left_alone)
{
    assert_comes(leader() >= 0);
    outlive_a_removal(leader());
}

/* A removed member that became a cluster of its own knows no holder, and must grant nothing. */
TEST_WITH(mend, NULL, a_member_of_another_cluster_grants_nothing)
{
    dlock_system *sys = open_locks(company.urls), *other = open_locks(company.urls);
    dlock_lease held, lease;
    dlock_status st;

    assert_int_equal(DLOCK_OK, dlock_acquire(sys, "held", 0, &held));
    remove_member(0, 1);
    wipe_member(0);
    company.founds[0] = true;
    company.joins[0] = false;
    launch(0);
    assert_comes(is_well(0));
    assert_int_equal(DLOCK_BUSY, dlock_acquire(other, "held", 0, &lease));
    kill_member(1);
    kill_member(2); /* only the member of the other cluster is left */
    st = dlock_acquire(other, "held", 0, &lease);
    assert_true(st == DLOCK_IO || st == DLOCK_UNKNOWN);
    st = dlock_acquire(other, "free", 0, &lease);
    assert_true(st == DLOCK_IO || st == DLOCK_UNKNOWN);
    assert_int_equal(DLOCK_IO, dlock_check(other));
    launch(1);
    launch(2);
    assert_comes(is_well(1) && is_well(2));
    assert_comes(dlock_acquire(other, "held", 0, &lease) == DLOCK_BUSY);
    assert_int_equal(DLOCK_OK, dlock_release(sys, &held));
    assert_comes(dlock_acquire(other, "held", 0, &lease) == DLOCK_OK);
    assert_int_equal(DLOCK_OK, dlock_release(other, &lease));
    dlock_close(other);
    dlock_close(sys);
    kill_member(0);
    company.founds[0] = false;
    add_member(0, 1);
}

static struct {
    dlock_system *sys;
    atomic_int inside, done;
} waiting;

static void *wait_and_hold(void *arg)
{
    dlock_lease lease;
    dlock_status st = dlock_acquire(waiting.sys, "held", PATIENCE_MS, &lease);

    atomic_fetch_add(&waiting.inside, 1);
    pause_ms(HELD_MS);
    atomic_fetch_sub(&waiting.inside, 1);
    if (st == DLOCK_OK)
        st = dlock_release(waiting.sys, &lease);
    atomic_fetch_add(&waiting.done, 1);
    (void)arg;
    return (void *)(uintptr_t)st;
}

/* All members lose their disks while two threads wait. One of them gets the lock, and the other
 * waits behind it. The other must not ask all the time, although the watch has reported revisions
 * that the empty etcd has not reached yet. */
TEST_WITH(mend, NULL, a_waiter_on_an_empty_etcd_asks_now_and_then)
{
    dlock_system *sys = open_locks(company.urls);
    dlock_info info = {.waiter_count = 0};
    dlock_metrics before, after;
    pthread_t threads[2];
    dlock_lease held;
    void *answer;

    memset(&waiting, 0, sizeof(waiting));
    waiting.sys = open_locks(company.urls);
    for (int i = 0; i < 100; i++) { /* so that the revisions are high */
        assert_int_equal(DLOCK_OK, dlock_acquire(sys, "held", 0, &held));
        assert_int_equal(DLOCK_OK, dlock_release(sys, &held));
    }
    assert_int_equal(DLOCK_OK, dlock_acquire(sys, "held", 0, &held));
    for (int i = 0; i < 2; i++)
        assert_int_equal(0, pthread_create(&threads[i], NULL, wait_and_hold, NULL));
    assert_comes(dlock_inspect(sys, "held", &info) == DLOCK_OK && info.waiter_count == 2);
    for (int i = 0; i < MEMBERS; i++)
        kill_member(i);
    for (int i = 0; i < MEMBERS; i++) {
        wipe_member(i);
        company.joins[i] = false;
    }
    mend_company();
    assert_comes(atomic_load(&waiting.inside) == 1);
    dlock_metrics_read(waiting.sys, &before);
    for (int i = 0; i < 2; i++) {
        assert_int_equal(0, pthread_join(threads[i], &answer));
        assert_int_equal(DLOCK_OK, (dlock_status)(uintptr_t)answer);
    }
    dlock_metrics_read(waiting.sys, &after);
    print_message("# %llu requests\n",
                  (unsigned long long)(after.acquire_commands - before.acquire_commands));
    assert_true(after.acquire_commands - before.acquire_commands <= REQUESTS_MOST);
    assert_int_equal(DLOCK_LOST, dlock_release(sys, &held));
    dlock_close(waiting.sys);
    dlock_close(sys);
}

GROUP(set_up, tear_down)
