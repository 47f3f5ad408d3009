/* SPDX-License-Identifier: MIT */
/* cluster_locks.h -- locks on the nodes of clusters.h, and a crowd of threads that take one of them in
 * turns. */
#ifndef TESTS_TOPOLOGY_CLUSTER_LOCKS_H
#define TESTS_TOPOLOGY_CLUSTER_LOCKS_H

#include "tests/topology/clusters.h"

#include <pthread.h>
#include <stdatomic.h>

#include "lock/dlock.h"

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
    atomic_bool stopping;
    const char *name;
    atomic_int inside, overlap_count, failed_count;
    _Atomic int64_t grant_count, granted_ns;
} crowd;

static inline void *take_turns(void *arg)
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

static inline void gather_crowd(const char *variant, const char *name, pthread_t threads[WORKERS])
{
    memset(&crowd, 0, sizeof(crowd));
    crowd.name = name;
    crowd.sys = open_locks(variant, nodes.url);
    assert_non_null(crowd.sys);
    for (int i = 0; i < WORKERS; i++)
        assert_int_equal(0, pthread_create(&threads[i], NULL, take_turns, NULL));
}

static inline void dismiss_crowd(pthread_t threads[WORKERS])
{
    atomic_store(&crowd.stopping, true);
    for (int i = 0; i < WORKERS; i++)
        pthread_join(threads[i], NULL);
    dlock_close(crowd.sys);
}

/* Wait for so many more grants. */
static inline void await_grants(int count)
{
    int64_t before = atomic_load(&crowd.grant_count);

    assert_comes(atomic_load(&crowd.grant_count) >= before + count);
}

#endif /* TESTS_TOPOLOGY_CLUSTER_LOCKS_H */
