/* SPDX-License-Identifier: MIT */
/* cluster_moves.c -- locks in a real Redis Cluster while slots move to other masters, and while
 * nodes announce other addresses. */
#include "tests/registered.h"
#include "tests/topology/cluster_locks.h"

enum {
    WAKE_MS = 150, /* less than the 200 ms after which a waiter looks by itself at the earliest */
};

static const char *const VARIANTS[] = {"setnx", "naive", "owner", "watch", "getset", "lua",
                                       "lua-local", "reentrant", "spin", "fenced", "fair",
                                       "rwlock"};

TEST_WITH(NULL, leave_no_trace, slots_are_those_of_the_server)
{
    unsigned seed = 7;

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

/* Locks with names of every node are held at the same time. */
TEST_WITH(NULL, leave_no_trace, every_lock_is_taken_and_given_back_on_every_node)
{
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

/* Does a client subscribe to the channel of that name's lock at node `i`? */
static bool is_listened_to(int i, const char *name)
{
    redisReply *reply = tell(i, "PUBSUB SHARDNUMSUB redisson_lock__channel:{%s}", name);
    bool is_so = reply != NULL && reply->elements == 2 && reply->element[1]->integer > 0;

    freeReplyObject(reply);
    return is_so;
}

/* The fastest of several tries counts, because a busy machine may delay some of them. */
TEST_WITH(NULL, leave_no_trace, a_release_wakes_a_waiter_after_the_slot_has_moved)
{
    dlock_system *holder = open_locks("reentrant", nodes.url);
    dlock_system *waiter = open_locks("reentrant", nodes.url);
    int64_t best_ns = INT64_MAX;
    char name[32];
    int slot = redis_slot_of(name_on(0, name));

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

TEST_WITH(NULL, leave_no_trace, a_moving_slot_delays_and_fails_nothing)
{
    static const char *const TRIED[] = {"lua", "reentrant", "fenced", "fair", "rwlock"};

    for (size_t v = 0; v < sizeof(TRIED) / sizeof(TRIED[0]); v++) {
        char name[32];
        int slot = redis_slot_of(name_on(1, name));

        start_contenders(TRIED[v], name);
        await_grants(20);
        for (int round = 0; round < 2; round++) {
            int from = round == 0 ? 1 : 2, to = 3 - from;

            begin_move(slot, from, to);
            if (strcmp(TRIED[v], "fair") != 0 && strcmp(TRIED[v], "rwlock") != 0 &&
                strcmp(TRIED[v], "fenced") != 0) /* their scripts wait for missing keys */
                await_grants(20);
            end_move(slot, from, to);
            await_grants(20);
        }
        stop_contenders();
        assert_int_equal(0, atomic_load(&contenders.failed_count));
        assert_int_equal(0, atomic_load(&contenders.overlap_count));
    }
}

/* The number of connections of node `i` whose last command was a script. */
static int script_client_count(int i)
{
    static const char FIELD[] = " cmd=eval";
    redisReply *reply = tell(i, "CLIENT LIST");
    const char *at = reply != NULL ? reply->str : NULL;
    int count = 0;

    while (at != NULL && (at = strstr(at, FIELD)) != NULL) {
        at += strlen(FIELD);
        count++;
    }
    freeReplyObject(reply);
    return count;
}

static void announce_all(const char *name, const char *kind)
{
    for (int i = 0; i < NODE_COUNT; i++) {
        assert_true(has(tell(i, "CONFIG SET cluster-announce-hostname %s", name), "OK"));
        assert_true(has(tell(i, "CONFIG SET cluster-preferred-endpoint-type %s", kind), "OK"));
    }
}

static bool are_all_named(const char *name)
{
    for (int i = 0; i < NODE_COUNT; i++) {
        redisReply *reply = tell(i, "CLUSTER NODES");
        int count = 0;

        for (const char *at = reply != NULL ? reply->str : NULL; at != NULL && *at != '\0'; at++)
            count += strncmp(at, name, strlen(name)) == 0;
        freeReplyObject(reply);
        if (count != NODE_COUNT)
            return false;
    }
    return true;
}

/* CLUSTER NODES has IP addresses, and the redirects have host names. */
TEST_WITH(NULL, leave_no_trace, a_redirect_by_name_leads_to_the_connection_that_is_there)
{
    char name[32], there[32];
    int slot = redis_slot_of(name_on(0, name));
    dlock_system *sys;
    dlock_lease lease;

    announce_all("localhost", "hostname");
    assert_comes(are_all_named(",localhost"));
    sys = open_locks("reentrant", nodes.url);
    assert_int_equal(DLOCK_OK, dlock_acquire(sys, name_on(1, there), 0, &lease));
    assert_int_equal(DLOCK_OK, dlock_release(sys, &lease));
    assert_int_equal(DLOCK_OK, dlock_acquire(sys, name, 0, &lease));
    assert_int_equal(1, script_client_count(1));
    begin_move(slot, 0, 1);
    end_move(slot, 0, 1);
    assert_int_equal(DLOCK_OK, dlock_release(sys, &lease)); /* follows a redirect */
    assert_int_equal(1, script_client_count(1));
    begin_move(slot, 1, 0);
    end_move(slot, 1, 0);
    announce_all("", "ip");
    dlock_close(sys);
}

TEST_WITH(NULL, leave_no_trace, addresses_that_lead_elsewhere_are_named)
{
    char url[64];
    dlock_options opts = dlock_options_default();
    dlock_system *sys = NULL;
    dlock_lease lease;
    dlock_status st = DLOCK_OK;
    char name[32];

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

TEST_WITH(NULL, leave_no_trace, nodes_that_are_none_are_named)
{
    const char *url = getenv("SECKILL_REDIS_URL");
    dlock_options opts = dlock_options_default();
    dlock_system *sys = NULL;
    char cluster_url[300];

    assert_non_null(url);
    snprintf(cluster_url, sizeof(cluster_url), "redis-cluster://%s", strstr(url, "://") + 3);
    if (strrchr(cluster_url, '/') > strchr(cluster_url, '@'))
        *strrchr(cluster_url, '/') = '\0';
    opts.variant = "lua";
    opts.redis_url = cluster_url;
    opts.redis_timeout_ms = TIMEOUT_MS;
    assert_int_equal(DLOCK_PROTOCOL, dlock_open(&sys, &opts));
    assert_non_null(strstr(dlock_error(), "cluster support disabled"));
}

/* No master fails here, so a pause of the machine must not promote a replica, which may lack the
 * newest lock. */
static int start_patient_nodes(void **state)
{
    node_timeout_ms = 60000;
    return start_nodes(state);
}

GROUP(start_patient_nodes, end_nodes)
