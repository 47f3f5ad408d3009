/* SPDX-License-Identifier: MIT */
/* cluster_moves.c -- locks in a real Redis Cluster while slots move to other masters, replicas are
 * promoted, and nodes give answers that lead elsewhere. */
#include "tests/topology/clusters.h"

#include <pthread.h>
#include <stdatomic.h>

#include "lock/dlock.h"
#include "lock/dlock_later.h"
#include "lock/dlock_metrics.h"

enum {
    WORKERS = 8,
    TIMEOUT_MS = 1000,
    LEASE_MS = 30000,
    RESUME_MS = 2000, /* from the promotion to a grant, at the most */
    SLOW_MS = 30000,  /* the timeout of requests that no answer may end */
    WAKE_MS = 150,    /* a waiter that looks by itself does so after 200 ms at the earliest */
};

static const char *const VARIANTS[] = {"setnx", "naive", "owner", "watch", "getset", "lua",
                                       "lua-local", "reentrant", "spin", "fenced", "fair",
                                       "rwlock"};

static dlock_system *open_locks_within(const char *variant, const char *url, int timeout_ms)
{
    dlock_options opts = dlock_options_default();
    dlock_system *sys = NULL;
    dlock_status st;

    opts.variant = variant;
    opts.redis_url = url;
    opts.redis_timeout_ms = timeout_ms;
    opts.lease_ms = LEASE_MS;
    opts.watchdog = true;
    st = dlock_open(&sys, &opts);
    if (st != DLOCK_OK)
        print_message("# %s: %s: %s\n", variant, dlock_status_text(st), dlock_error());
    return sys;
}

static dlock_system *open_locks(const char *variant, const char *url)
{
    return open_locks_within(variant, url, TIMEOUT_MS);
}

static void slots_are_those_of_the_server(void **state)
{
    unsigned seed = 7;

    (void)state;
    for (int i = 0; i < 1000; i++) {
        static const char LETTERS[] = "abc{}:0123456789";
        char key[20];
        redisReply *reply;
        size_t len = 1 + (size_t)(rand_r(&seed) % 18);

        for (size_t at = 0; at < len; at++)
            key[at] = LETTERS[(size_t)rand_r(&seed) % (sizeof(LETTERS) - 1)];
        key[len] = '\0';
        reply = tell(0, "CLUSTER KEYSLOT %s", key);
        assert_non_null(reply);
        if (reply->integer != redis_slot_of(key))
            fail_msg("\"%s\" is in slot %lld", key, reply->integer);
        freeReplyObject(reply);
    }
}

/* Another of the same names is held meanwhile, on every node. */
static void every_lock_is_taken_and_given_back_on_every_node(void **state)
{
    (void)state;
    for (size_t v = 0; v < sizeof(VARIANTS) / sizeof(VARIANTS[0]); v++) {
        dlock_system *sys = open_locks(VARIANTS[v], nodes.url);
        dlock_system *other = open_locks(VARIANTS[v], nodes.url);

        assert_non_null(sys);
        assert_non_null(other);
        for (int i = 0; i < MASTER_COUNT; i++) {
            char name[32];
            dlock_lease lease, second;

            name_on(i, name);
            assert_int_equal(DLOCK_OK, dlock_acquire(sys, name, 0, &lease));
            assert_int_equal(DLOCK_TIMEOUT, dlock_acquire(other, name, 50, &second));
            assert_int_equal(DLOCK_OK, dlock_release(sys, &lease));
            assert_int_equal(DLOCK_OK, dlock_acquire(other, name, 20000, &second));
            assert_int_equal(DLOCK_OK, dlock_release(other, &second));
        }
        dlock_close(other);
        dlock_close(sys);
    }
}

struct waiting {
    dlock_system *sys;
    const char *name;
    dlock_status acquired, released;
    int64_t granted_ns;
};

static void *wait_for_lock(void *arg)
{
    struct waiting *waiting = arg;
    dlock_lease lease;

    waiting->acquired = dlock_acquire(waiting->sys, waiting->name, PATIENCE_MS, &lease);
    waiting->granted_ns = dlock_clock_ns();
    waiting->released = dlock_release(waiting->sys, &lease);
    return NULL;
}

/* Does a client listen on the channel of that name's lock at node `i`? */
static bool is_listened_to(int i, const char *name)
{
    redisReply *reply = tell(i, "PUBSUB SHARDNUMSUB redisson_lock__channel:{%s}", name);
    bool is_so = reply != NULL && reply->elements == 2 && reply->element[1]->integer > 0;

    freeReplyObject(reply);
    return is_so;
}

/* The best of some tries counts: a busy machine may delay any one of them. */
static void a_release_wakes_a_waiter_after_the_slot_has_moved(void **state)
{
    dlock_system *holder = open_locks("reentrant", nodes.url);
    dlock_system *waiter = open_locks("reentrant", nodes.url);
    int64_t best_ns = INT64_MAX;
    char name[32];
    int slot = redis_slot_of(name_on(0, name));

    (void)state;
    for (int try = 0; try < 6; try++) {
        int from = try % 2, to = 1 - from;
        struct waiting waiting = {.sys = waiter, .name = name};
        dlock_lease held;
        pthread_t thread;
        int64_t freed_ns;

        assert_int_equal(DLOCK_OK, dlock_acquire(holder, name, 5000, &held));
        assert_int_equal(0, pthread_create(&thread, NULL, wait_for_lock, &waiting));
        assert_comes(is_listened_to(from, name));
        begin_move(slot, from, to);
        end_move(slot, from, to);
        assert_comes(is_listened_to(to, name));
        assert_true(dlock_lease_valid(holder, &held));
        freed_ns = dlock_clock_ns();
        assert_int_equal(DLOCK_OK, dlock_release(holder, &held));
        pthread_join(thread, NULL);
        assert_int_equal(DLOCK_OK, waiting.acquired);
        assert_int_equal(DLOCK_OK, waiting.released);
        if (waiting.granted_ns - freed_ns < best_ns)
            best_ns = waiting.granted_ns - freed_ns;
    }
    assert_true(best_ns < WAKE_MS * DLOCK_NS_PER_MS);
    dlock_close(waiter);
    dlock_close(holder);
}

static struct {
    dlock_system *sys;
    atomic_bool stopping;
    const char *name;
    atomic_int inside, overlap_count, failed_count;
    _Atomic int64_t grant_count, granted_ns;
} crowd;

static void *take_turns(void *arg)
{
    (void)arg;
    while (!atomic_load(&crowd.stopping)) {
        dlock_lease lease;
        dlock_status st = dlock_acquire(crowd.sys, crowd.name, PATIENCE_MS, &lease);
        bool is_alone;

        if (st != DLOCK_OK) {
            print_message("# %s: %s\n", dlock_status_text(st), dlock_error());
            atomic_fetch_add(&crowd.failed_count, 1);
            continue;
        }
        is_alone = atomic_fetch_add(&crowd.inside, 1) == 0;
        if (!is_alone && dlock_lease_valid(crowd.sys, &lease))
            atomic_fetch_add(&crowd.overlap_count, 1);
        if (dlock_lease_valid(crowd.sys, &lease))
            atomic_store(&crowd.granted_ns, dlock_clock_ns());
        atomic_fetch_sub(&crowd.inside, 1);
        atomic_fetch_add(&crowd.grant_count, 1);
        (void)dlock_release(crowd.sys, &lease);
    }
    return NULL;
}

static void gather_crowd(const char *variant, const char *name, pthread_t threads[WORKERS])
{
    memset(&crowd, 0, sizeof(crowd));
    crowd.name = name;
    crowd.sys = open_locks(variant, nodes.url);
    assert_non_null(crowd.sys);
    for (int i = 0; i < WORKERS; i++)
        assert_int_equal(0, pthread_create(&threads[i], NULL, take_turns, NULL));
}

static void dismiss_crowd(pthread_t threads[WORKERS])
{
    atomic_store(&crowd.stopping, true);
    for (int i = 0; i < WORKERS; i++)
        pthread_join(threads[i], NULL);
    dlock_close(crowd.sys);
}

/* Wait for so many more grants. */
static void await_grants(int count)
{
    int64_t before = atomic_load(&crowd.grant_count);

    assert_comes(atomic_load(&crowd.grant_count) >= before + count);
}

static void a_moving_slot_delays_and_fails_nothing(void **state)
{
    static const char *const TRIED[] = {"lua", "reentrant", "fenced", "fair", "rwlock"};

    (void)state;
    for (size_t v = 0; v < sizeof(TRIED) / sizeof(TRIED[0]); v++) {
        pthread_t threads[WORKERS];
        char name[32];
        int slot = redis_slot_of(name_on(1, name));

        gather_crowd(TRIED[v], name, threads);
        await_grants(20);
        for (int round = 0; round < 2; round++) {
            int from = round == 0 ? 1 : 2, to = 3 - from;

            begin_move(slot, from, to);
            if (strcmp(TRIED[v], "fair") != 0 && strcmp(TRIED[v], "rwlock") != 0 &&
                strcmp(TRIED[v], "fenced") != 0) /* these wait: some of their keys are missing */
                await_grants(20);
            end_move(slot, from, to);
            await_grants(20);
        }
        dismiss_crowd(threads);
        assert_int_equal(0, atomic_load(&crowd.failed_count));
        assert_int_equal(0, atomic_load(&crowd.overlap_count));
    }
}

static bool is_promoted(int i)
{
    return has(tell(i, "INFO replication"), "role:master");
}

/* The master of `break_it` goes: its holder learns that, that of another master holds on. */
static void judge_promotion(void (*break_it)(int), void (*mend)(int))
{
    pthread_t threads[WORKERS];
    dlock_system *sys = open_locks("reentrant", nodes.url);
    dlock_lease gone, kept;
    char name[32], held_name[40], other_name[32];
    int master = is_promoted(2) ? 2 : 5, replica = 7 - master;
    int64_t promoted_ns;

    name_on(2, name);
    snprintf(held_name, sizeof(held_name), "held:{%s}", name);
    name_on(0, other_name);
    assert_comes(is_linked(replica));
    assert_int_equal(DLOCK_OK, dlock_acquire(sys, held_name, 5000, &gone));
    assert_int_equal(DLOCK_OK, dlock_acquire(sys, other_name, 5000, &kept));
    gather_crowd("reentrant", name, threads);
    await_grants(10);
    break_it(master);
    assert_comes(is_promoted(replica));
    promoted_ns = dlock_clock_ns();
    assert_comes(!dlock_lease_valid(sys, &gone));
    assert_comes(atomic_load(&crowd.granted_ns) > promoted_ns);
    print_message("# others get locks %lld ms after the promotion\n",
                  (long long)(atomic_load(&crowd.granted_ns) - promoted_ns) / DLOCK_NS_PER_MS);
    assert_true(atomic_load(&crowd.granted_ns) - promoted_ns < RESUME_MS * DLOCK_NS_PER_MS);
    assert_true(dlock_lease_valid(sys, &kept));
    assert_int_equal(DLOCK_LOST, dlock_release(sys, &gone));
    assert_int_equal(DLOCK_OK, dlock_release(sys, &kept));
    mend(master);
    await_grants(10);
    assert_int_equal(0, atomic_load(&crowd.overlap_count));
    dismiss_crowd(threads);
    dlock_close(sys);
    assert_comes(is_settled() && is_linked(master));
}

static void stop_node(int i)
{
    kill(nodes.pids[i], SIGSTOP);
}

static void resume_node(int i)
{
    kill(nodes.pids[i], SIGCONT);
}

static void a_killed_master_is_followed_and_its_leases_are_lost(void **state)
{
    (void)state;
    judge_promotion(kill_node, launch);
}

static void a_stopped_master_is_followed_and_its_leases_are_lost(void **state)
{
    (void)state;
    judge_promotion(stop_node, resume_node);
}

static int64_t fail_over_count(dlock_system *sys)
{
    dlock_metrics metrics;

    dlock_metrics_read(sys, &metrics);
    return (int64_t)metrics.fail_overs;
}

/* The old master redirects before the library has asked anew who has the slot. */
static void a_grant_by_a_redirect_outlives_the_news_of_the_promotion(void **state)
{
    dlock_system *sys = open_locks("reentrant", nodes.url);
    char name[32];
    int master = is_promoted(0) ? 0 : 3, replica = 3 - master;
    int64_t before;
    dlock_lease lease;

    (void)state;
    name_on(0, name);
    assert_comes(is_linked(replica));
    assert_int_equal(DLOCK_OK, dlock_acquire(sys, name, 0, &lease));
    assert_int_equal(DLOCK_OK, dlock_release(sys, &lease));
    before = fail_over_count(sys);
    assert_true(has(tell(replica, "CLUSTER FAILOVER TAKEOVER"), "OK"));
    assert_comes(!is_promoted(master));
    assert_int_equal(DLOCK_OK, dlock_acquire(sys, name, 5000, &lease));
    assert_comes(fail_over_count(sys) > before);
    assert_true(dlock_lease_valid(sys, &lease));
    assert_int_equal(DLOCK_OK, dlock_release(sys, &lease));
    dlock_close(sys);
    assert_comes(is_settled() && is_linked(master));
}

/* The release is on its way to a master that stands still, and no other request of this process is. */
static void a_release_that_nobody_waits_for_outlives_its_master(void **state)
{
    dlock_system *sys = open_locks_within("reentrant", nodes.url, SLOW_MS);
    dlock_system *other = open_locks("reentrant", nodes.url);
    char name[32];
    int master = is_promoted(1) ? 1 : 4, replica = 5 - master;
    dlock_lease lease, next;
    int64_t before;

    (void)state;
    name_on(1, name);
    assert_comes(is_linked(replica));
    assert_int_equal(DLOCK_OK, dlock_acquire(sys, name, 0, &lease));
    assert_comes(has(tell(replica, "CLUSTER INFO"), "cluster_state:ok"));
    before = fail_over_count(sys);
    stop_node(master);
    assert_int_equal(DLOCK_OK, dlock_release_later(sys, &lease));
    dlock_send_debts(sys);
    assert_true(has(tell(replica, "CLUSTER FAILOVER TAKEOVER"), "OK"));
    assert_comes(fail_over_count(sys) > before);
    assert_int_equal(0, dlock_pay_debts(sys, SLOW_MS / 3));
    assert_int_equal(DLOCK_OK, dlock_acquire(other, name, SLOW_MS / 3, &next));
    assert_int_equal(DLOCK_OK, dlock_release(other, &next));
    dlock_close(other);
    dlock_close(sys);
    resume_node(master);
    assert_comes(is_settled() && is_linked(master));
}

static void addresses_that_lead_elsewhere_are_named(void **state)
{
    char url[64];
    dlock_options opts = dlock_options_default();
    dlock_system *sys = NULL;
    dlock_lease lease;
    dlock_status st = DLOCK_OK;
    char name[32];

    (void)state;
    snprintf(url, sizeof(url), "redis://127.0.0.1:%d", nodes.ports[0]);
    sys = open_locks("lua", url);
    assert_non_null(sys);
    st = dlock_acquire(sys, name_on(1, name), 0, &lease);
    assert_int_equal(DLOCK_PROTOCOL, st);
    assert_non_null(strstr(dlock_error(), "MOVED"));
    assert_non_null(strstr(dlock_error(), "redis-cluster://"));
    dlock_close(sys);

    opts.variant = "redlock";
    opts.redlock_urls = nodes.url;
    assert_int_equal(DLOCK_INVALID, dlock_open(&sys, &opts));
    assert_non_null(strstr(dlock_error(), "cluster"));
}

static void nodes_that_are_none_are_named(void **state)
{
    const char *url = getenv("SECKILL_REDIS_URL");
    dlock_options opts = dlock_options_default();
    dlock_system *sys = NULL;
    char cluster_url[300];

    (void)state;
    assert_non_null(url);
    snprintf(cluster_url, sizeof(cluster_url), "redis-cluster://%s", strstr(url, "://") + 3);
    if (strrchr(cluster_url, '/') > strchr(cluster_url, '@'))
        *strrchr(cluster_url, '/') = '\0';
    opts.variant = "lua";
    opts.redis_url = cluster_url;
    opts.redis_timeout_ms = TIMEOUT_MS;
    assert_int_equal(DLOCK_IO, dlock_open(&sys, &opts));
    assert_non_null(strstr(dlock_error(), "cluster support disabled"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(slots_are_those_of_the_server),
        cmocka_unit_test(every_lock_is_taken_and_given_back_on_every_node),
        cmocka_unit_test(a_release_wakes_a_waiter_after_the_slot_has_moved),
        cmocka_unit_test(a_moving_slot_delays_and_fails_nothing),
        cmocka_unit_test(addresses_that_lead_elsewhere_are_named),
        cmocka_unit_test(nodes_that_are_none_are_named),
        cmocka_unit_test(a_killed_master_is_followed_and_its_leases_are_lost),
        cmocka_unit_test(a_stopped_master_is_followed_and_its_leases_are_lost),
        cmocka_unit_test(a_grant_by_a_redirect_outlives_the_news_of_the_promotion),
        cmocka_unit_test(a_release_that_nobody_waits_for_outlives_its_master),
    };

    return cmocka_run_group_tests(tests, start_nodes, end_nodes);
}
