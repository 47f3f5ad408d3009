/* SPDX-License-Identifier: MIT */
/* laws_sharing.c -- the number of connections of a system does not grow with its
 * threads. */
#include <pthread.h>
#include <string.h>

#include "tests/conformance/laws.h"

enum { THREADS = 64, NODE_TIMEOUT_MS = 5000, ROUNDS = 10 };

static struct {
    dlock_system *sys;
    atomic_bool stopping;
    atomic_int done_count[THREADS];
} contenders;

static void *lock_and_unlock(void *arg)
{
    atomic_int *done_count = arg;
    /* Two threads use each name, so that some of them wait for each other. */
    char name[] = "sharing:00";
    long which = (done_count - contenders.done_count) / 2;
    dlock_lease lease;

    name[8] = (char)('0' + which / 10);
    name[9] = (char)('0' + which % 10);
    while (!atomic_load(&contenders.stopping)) {
        if (dlock_acquire(contenders.sys, name, 100, &lease) == DLOCK_OK)
            (void)dlock_release(contenders.sys, &lease);
        atomic_fetch_add(done_count, 1);
    }
    return NULL;
}

static bool all_have_done(int rounds)
{
    for (int i = 0; i < THREADS; i++)
        if (atomic_load(&contenders.done_count[i]) < rounds)
            return false;
    return true;
}

static int count_clients(size_t server)
{
    const char *at = servers_tell(server, "CLIENT LIST")->str;
    int count = -1; /* without the connection that asks */

    for (; *at != '\0'; at++)
        count += *at == '\n';
    return count;
}

static int most_clients(void)
{
    int most = 0;

    for (size_t i = 0; i < servers_found(); i++)
        if (count_clients(i) > most)
            most = count_clients(i);
    return most;
}

/* A process has one connection for commands and at most one for subscriptions; with `watch`,
 * whose release takes several commands, one more for each lock that is held. */
void shares_one_connection(const char *variant)
{
    dlock_options opts = rig_options(variant);
    pthread_t threads[THREADS];
    int most = rig_caps(variant) & DLOCK_CAP_PUSH ? 2 : 1;
    int seen = 0;

    if (rig_is(variant, "watch"))
        most = 1 + THREADS;
    opts.redlock_node_timeout_ms = NODE_TIMEOUT_MS;
    servers_start(&opts);
    memset(&contenders, 0, sizeof(contenders));
    contenders.sys = rig_open(&opts);
    for (int i = 0; i < THREADS; i++)
        assert_int_equal(0, pthread_create(&threads[i], NULL, lock_and_unlock,
                                           &contenders.done_count[i]));
    for (int round = 1; round <= ROUNDS; round++) {
        assert_comes(all_have_done(round));
        if (most_clients() > seen)
            seen = most_clients();
    }
    atomic_store(&contenders.stopping, true);
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    assert_in_range(seen, 1, most);
}
