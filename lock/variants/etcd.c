/* SPDX-License-Identifier: MIT */
/* etcd.c -- a queue of keys with leases in etcd; the key that was created first holds.
 *
 * Promises    one holder among all that use the cluster, `etcdctl lock` too; in the order of
 *             arrival, and each release wakes one waiter; frees only its own; the watchdog
 *             renews the lease while it works.  Its fence is the revision that created the
 *             holder's key, which grows through restarts and changes of the leader: it begins
 *             anew only with a cluster that was wiped or restored from a backup.
 * Breaks      a process that stops for longer than the lease, and then goes on writing.
 * Described   etcd's own recipe, the package concurrency of its Go client.
 *
 * See stores/etcd_queue.h.  etcd counts a lease in whole seconds, so a lock whose holder died is
 * free up to 2 s later than its lease; a new leader counts all leases from the beginning.  The
 * holder counts its own, shorter lease from when the request was sent.  A waiter has a
 * lease of the same length, so after the death of a waiter those behind it wait until
 * its lease ends.  A thread that locks again waits for itself, as with etcd's own
 * recipe. */
#include "lock/stores/etcd_queue.h"

static dlock_status open_state(const dlock_options *opts, void **out)
{
    struct etcd_queue *queue = NULL;
    dlock_status st = etcd_queue_open(&queue, opts);

    *out = queue;
    return st;
}

static void close_state(void *state)
{
    etcd_queue_close(state);
}

static dlock_status check(void *state)
{
    return etcd_queue_check(state);
}

static dlock_status try_acquire(void *state, dlock_claim *claim)
{
    return etcd_queue_enter(state, claim);
}

static dlock_status renew(void *state, const dlock_claim *claim)
{
    return etcd_queue_renew(state, claim);
}

static void etcd_renew_all(void *state, const dlock_claim *claims, size_t count,
                           dlock_status *statuses)
{
    etcd_queue_renew_all(state, claims, count, statuses);
}

static dlock_status release(void *state, const dlock_claim *claim)
{
    return etcd_queue_leave(state, claim);
}

static void *watch(void *state, const dlock_claim *claim)
{
    return etcd_queue_watch(state, claim);
}

static void unwatch(void *watch, bool granted)
{
    (void)granted;
    etcd_queue_unwatch(watch);
}

/* If the request fails, the place ends with its lease. */
static void leave(void *state, const dlock_claim *claim)
{
    (void)etcd_queue_leave(state, claim);
}

static dlock_status inspect(void *state, const char *name, dlock_info *out)
{
    return etcd_queue_inspect(state, name, out);
}

static dlock_status force(void *state, const char *name)
{
    return etcd_queue_force(state, name);
}

extern const dlock_variant dlock_variant_etcd;

const dlock_variant dlock_variant_etcd = {
    .info =
        {
            .name = "etcd",
            .store = "etcd",
            .promises = "one holder, in the order of arrival; renewed while its process runs",
            .breaks = "a process that stops beyond its lease",
            .source = "the recipe for locks of etcd's Go client",
            .caps = DLOCK_CAP_EXCLUSIVE | DLOCK_CAP_LOCAL | DLOCK_CAP_EXPIRES |
                    DLOCK_CAP_OWNED | DLOCK_CAP_RENEW | DLOCK_CAP_PUSH | DLOCK_CAP_FENCED |
                    DLOCK_CAP_FAIR | DLOCK_CAP_ATOMIC,
        },
    .drift_per_mille = 1,
    .watched = true,
    .open = open_state,
    .close = close_state,
    .check = check,
    .try_acquire = try_acquire,
    .renew = renew,
    .renew_all = etcd_renew_all,
    .release = release,
    .watch = watch,
    .sleep = etcd_queue_sleep,
    .unwatch = unwatch,
    .leave = leave,
    .inspect = inspect,
    .force = force,
};
