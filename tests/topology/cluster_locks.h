/* SPDX-License-Identifier: MIT */
/* cluster_locks.h -- locks on the nodes of clusters.h, and threads that acquire and release one
 * lock. */
#ifndef TESTS_TOPOLOGY_CLUSTER_LOCKS_H
#define TESTS_TOPOLOGY_CLUSTER_LOCKS_H

#include "tests/topology/clusters.h"

#include <pthread.h>
#include <stdatomic.h>

#include "lock/dlock.h"
#include "tests/topology/lateness.h"

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
