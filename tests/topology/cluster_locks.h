/* SPDX-License-Identifier: MIT */
/* cluster_locks.h -- starts three masters of a Redis Cluster and a replica of each for one test,
 * which may kill, stop and ask them, and moves slots between them; locks on these nodes, and
 * threads that acquire and release one lock. */
#ifndef TESTS_TOPOLOGY_CLUSTER_LOCKS_H
#define TESTS_TOPOLOGY_CLUSTER_LOCKS_H

#include <hiredis/hiredis.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/os/clock.h"
#include "base/redis/slot.h"
#include "loadtest/kit/port.h"
#include "lock/dlock.h"
#include "tests/registered.h"
#include "tests/topology/lateness.h"
#include "tests/unit/scratch.h"

enum {
    PATIENCE_MS = 40000, /* the limit for states that have to come */
    NODE_COUNT = 6,      /* the masters come first, and node i + 3 begins as the replica of i */
    MASTER_COUNT = 3,
};

/* The nodes promote the replica of a master that does not answer for this time. */
static int node_timeout_ms = 2000;

static struct {
    char dir[SCRATCH_SIZE];
    char url[128];
    int ports[NODE_COUNT];
    int buses[NODE_COUNT]; /* the ports of the connections between the nodes */
    pid_t pids[NODE_COUNT];
    char ids[NODE_COUNT][48];
    bool is_formed;
} nodes;

#define assert_comes(state)                                                            \
    do {                                                                               \
        int64_t end_ns_ = dlock_clock_after(dlock_clock_ns(), PATIENCE_MS);            \
        while (!(state)) {                                                             \
            assert_true(dlock_clock_ns() < end_ns_);                                   \
            dlock_clock_sleep_until(dlock_clock_after(dlock_clock_ns(), 5));           \
        }                                                                              \
    } while (0)

/* Send a command to node `i`. Returns NULL after half a second without an answer; after ten seconds
 * while the cluster is formed, because these commands cannot be sent twice. The caller frees the
 * reply. */
static inline redisReply *tell(int i, const char *format, ...)
{
    struct timeval limit = {.tv_sec = nodes.is_formed ? 0 : 10, .tv_usec = 500000};
    redisContext *side = redisConnectWithTimeout("127.0.0.1", nodes.ports[i], limit);
    redisReply *reply = NULL;
    va_list args;

    va_start(args, format);
    if (side != NULL && side->err == 0 && redisSetTimeout(side, limit) == REDIS_OK)
        reply = redisvCommand(side, format, args);
    va_end(args);
    if (side != NULL)
        redisFree(side);
    return reply;
}

/* Does the reply contain `text`? Frees the reply. */
static inline bool has(redisReply *reply, const char *text)
{
    bool found = reply != NULL && reply->str != NULL && strstr(reply->str, text) != NULL;

    freeReplyObject(reply);
    return found;
}

static inline void launch(int i)
{
    char port[12], bus[12], timeout[12], file[24];

    snprintf(port, sizeof(port), "%d", nodes.ports[i]);
    snprintf(bus, sizeof(bus), "%d", nodes.buses[i]);
    snprintf(timeout, sizeof(timeout), "%d", node_timeout_ms);
    snprintf(file, sizeof(file), "nodes-%d.conf", i);
    nodes.pids[i] = fork();
    assert_true(nodes.pids[i] >= 0);
    if (nodes.pids[i] == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        if (freopen("/dev/null", "w", stdout) != NULL)
            execlp("redis-server", "redis-server", "--bind", "127.0.0.1", "--port", port,
                   "--cluster-enabled", "yes", "--cluster-port", bus,
                   "--cluster-node-timeout", timeout, "--cluster-config-file", file, "--dir",
                   nodes.dir, "--save", "", "--appendonly", "no", "--repl-diskless-sync-delay",
                   "0", (char *)NULL);
        _exit(127);
    }
}

static inline void kill_node(int i)
{
    kill(nodes.pids[i], SIGKILL);
    waitpid(nodes.pids[i], NULL, 0);
    nodes.pids[i] = 0;
}

/* Start node `i` on ports that no other process uses. */
static inline void start_node(int i)
{
    for (int tries = 0; tries < 20; tries++) {
        int64_t end_ns;

        assert_true(port_hold(&nodes.ports[i]) >= 0);
        assert_true(port_hold(&nodes.buses[i]) >= 0);
        launch(i);
        end_ns = dlock_clock_after(dlock_clock_ns(), PATIENCE_MS);
        while (dlock_clock_ns() < end_ns && waitpid(nodes.pids[i], NULL, WNOHANG) == 0) {
            redisReply *id = tell(i, "CLUSTER MYID");

            if (id != NULL && id->str != NULL) {
                snprintf(nodes.ids[i], sizeof(nodes.ids[i]), "%s", id->str);
                freeReplyObject(id);
                return;
            }
            freeReplyObject(id);
        }
    }
    fail_msg("no node could be started");
}

/* Does every node that runs call the cluster complete, and know all nodes? */
static inline bool is_settled(void)
{
    for (int i = 0; i < NODE_COUNT; i++)
        if (nodes.pids[i] > 0 &&
            (!has(tell(i, "CLUSTER INFO"), "cluster_state:ok") ||
             !has(tell(i, "CLUSTER INFO"), "cluster_known_nodes:6") ||
             (i >= MASTER_COUNT && !has(tell(i, "INFO replication"), "role:"))))
            return false;
    return true;
}

/* A number in the replication state of node `i`; -1: no answer, or no such field. */
static inline int64_t replication_number(int i, const char *field)
{
    redisReply *reply = tell(i, "INFO replication");
    const char *at = reply != NULL && reply->str != NULL ? strstr(reply->str, field) : NULL;
    int64_t number = at != NULL ? strtoll(at + strlen(field), NULL, 10) : -1;

    freeReplyObject(reply);
    return number;
}

/* Is node `i` a replica that has executed everything that its master had executed by now? A link
 * that is up does not prove that, because after a full copy the commands since the begin of the
 * copy still follow. */
static inline bool is_linked(int i)
{
    int64_t offset = replication_number((i + MASTER_COUNT) % NODE_COUNT, "master_repl_offset:");

    return offset >= 0 && has(tell(i, "INFO replication"), "master_link_status:up") &&
           replication_number(i, "slave_repl_offset:") >= offset;
}

/* Does node `i` know which nodes are replicas? The nodes tell each other one after another. */
static inline bool knows_replicas(int i)
{
    redisReply *reply = tell(i, "CLUSTER NODES");
    const char *at = reply != NULL ? reply->str : NULL;
    int count = 0;

    while (at != NULL && (at = strstr(at, "slave ")) != NULL)
        count++, at++;
    freeReplyObject(reply);
    return count == NODE_COUNT - MASTER_COUNT;
}

static inline int start_nodes(void **state)
{
    static const int FIRST[] = {0, 5461, 10923, REDIS_SLOT_COUNT};
    size_t len = 0;

    (void)state;
    memset(&nodes, 0, sizeof(nodes));
    scratch_make(nodes.dir, "cluster");
    for (int i = 0; i < NODE_COUNT; i++)
        start_node(i);
    for (int i = 0; i < MASTER_COUNT; i++)
        assert_true(has(tell(i, "CLUSTER ADDSLOTSRANGE %d %d", FIRST[i], FIRST[i + 1] - 1), "OK"));
    for (int i = 0; i < MASTER_COUNT; i++)
        assert_true(has(tell(i, "CLUSTER SET-CONFIG-EPOCH %d", i + 1), "OK"));
    for (int i = 1; i < NODE_COUNT; i++)
        assert_comes(has(tell(i, "CLUSTER MEET 127.0.0.1 %d %d", nodes.ports[0],
                              nodes.buses[0]), "OK"));
    assert_comes(is_settled());
    for (int i = MASTER_COUNT; i < NODE_COUNT; i++)
        assert_comes(has(tell(i, "CLUSTER REPLICATE %s", nodes.ids[i - MASTER_COUNT]), "OK"));
    for (int i = MASTER_COUNT; i < NODE_COUNT; i++)
        assert_comes(is_linked(i));
    for (int i = 0; i < NODE_COUNT; i++)
        assert_comes(knows_replicas(i));
    for (int i = 0; i < MASTER_COUNT; i++)
        len += (size_t)snprintf(nodes.url + len, sizeof(nodes.url) - len, "%s127.0.0.1:%d",
                                i == 0 ? "redis-cluster://" : ",", nodes.ports[i]);
    nodes.is_formed = true;
    return 0;
}

static inline int end_nodes(void **state)
{
    (void)state;
    for (int i = 0; i < NODE_COUNT; i++)
        if (nodes.pids[i] > 0)
            kill_node(i);
    scratch_remove(nodes.dir);
    return 0;
}

/* A name whose slot belonged to the master `i` at the beginning. */
static inline const char *name_on(int i, char out[32])
{
    for (int n = 0;; n++) {
        int slot;

        snprintf(out, 32, "lock:order:%d", n);
        slot = redis_slot_of(out);
        if (slot / 5462 == i && slot % 5462 < 5000)
            return out;
    }
}

/* Begin to move the slot; and move its keys and end the move. */
static inline void begin_move(int slot, int from, int to)
{
    assert_true(has(tell(to, "CLUSTER SETSLOT %d IMPORTING %s", slot, nodes.ids[from]), "OK"));
    assert_true(has(tell(from, "CLUSTER SETSLOT %d MIGRATING %s", slot, nodes.ids[to]), "OK"));
}

static inline void end_move(int slot, int from, int to)
{
    for (;;) {
        redisReply *keys = tell(from, "CLUSTER GETKEYSINSLOT %d 100", slot);
        bool has_keys = keys != NULL && keys->type == REDIS_REPLY_ARRAY && keys->elements > 0;

        for (size_t i = 0; has_keys && i < keys->elements; i++)
            freeReplyObject(tell(from, "MIGRATE 127.0.0.1 %d %s 0 1000", nodes.ports[to],
                                 keys->element[i]->str));
        freeReplyObject(keys);
        if (!has_keys)
            break;
    }
    assert_comes(has(tell(to, "CLUSTER SETSLOT %d NODE %s", slot, nodes.ids[to]), "OK"));
    assert_comes(has(tell(from, "CLUSTER SETSLOT %d NODE %s", slot, nodes.ids[to]), "OK"));
}

enum {
    WORKERS = 8,
    TIMEOUT_MS = 1000,
    LEASE_MS = 30000,
};

static inline dlock_system *open_locks_within(const char *variant, const char *url, int timeout_ms)
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

static inline dlock_system *open_locks(const char *variant, const char *url)
{
    return open_locks_within(variant, url, TIMEOUT_MS);
}

static struct {
    dlock_system *sys;
    pthread_t threads[WORKERS];
    int thread_count; /* 0: all threads have ended */
    atomic_bool stopping;
    char name[32];
    atomic_int inside, overlap_count, failed_count;
    _Atomic int64_t grant_count, granted_ns;
} contenders;

static inline void *take_turns(void *arg)
{
    (void)arg;
    while (!atomic_load(&contenders.stopping)) {
        dlock_lease lease;
        dlock_status st = dlock_acquire(contenders.sys, contenders.name, PATIENCE_MS, &lease);
        bool is_alone;

        if (st != DLOCK_OK) {
            print_message("# %s: %s\n", dlock_status_text(st), dlock_error());
            atomic_fetch_add(&contenders.failed_count, 1);
            continue;
        }
        is_alone = atomic_fetch_add(&contenders.inside, 1) == 0;
        if (!is_alone && dlock_lease_valid(contenders.sys, &lease))
            atomic_fetch_add(&contenders.overlap_count, 1);
        if (dlock_lease_valid(contenders.sys, &lease))
            atomic_store(&contenders.granted_ns, dlock_clock_ns());
        atomic_fetch_sub(&contenders.inside, 1);
        atomic_fetch_add(&contenders.grant_count, 1);
        (void)dlock_release(contenders.sys, &lease);
    }
    return NULL;
}

static inline void start_contenders(const char *variant, const char *name)
{
    memset(&contenders, 0, sizeof(contenders));
    snprintf(contenders.name, sizeof(contenders.name), "%s", name);
    contenders.sys = open_locks(variant, nodes.url);
    assert_non_null(contenders.sys);
    assert_true(lateness_begin());
    for (; contenders.thread_count < WORKERS; contenders.thread_count++)
        assert_int_equal(0, pthread_create(&contenders.threads[contenders.thread_count], NULL,
                                           take_turns, NULL));
}

static inline void stop_contenders(void)
{
    atomic_store(&contenders.stopping, true);
    for (; contenders.thread_count > 0; contenders.thread_count--)
        pthread_join(contenders.threads[contenders.thread_count - 1], NULL);
    lateness_end();
    dlock_close(contenders.sys);
    contenders.sys = NULL;
}

/* Wait for `count` more grants. */
static inline void await_grants(int count)
{
    int64_t before = atomic_load(&contenders.grant_count);

    assert_comes(atomic_load(&contenders.grant_count) >= before + count);
}

/* Clean up after a test, which may have failed anywhere: end its threads, which would use the state
 * of the next test, let all nodes run, and delete all locks. */
static inline int leave_no_trace(void **state)
{
    (void)state;
    for (int i = 0; i < NODE_COUNT; i++)
        if (nodes.pids[i] > 0)
            kill(nodes.pids[i], SIGCONT);
        else
            launch(i);
    stop_contenders();
    assert_comes(is_settled());
    for (int i = 0; i < NODE_COUNT; i++)
        /* A replica refuses FLUSHALL, and gets it from its master. */
        freeReplyObject(tell(i, "FLUSHALL"));
    return 0;
}

#endif /* TESTS_TOPOLOGY_CLUSTER_LOCKS_H */
