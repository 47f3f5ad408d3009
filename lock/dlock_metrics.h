/* SPDX-License-Identifier: MIT */
/* dlock_metrics.h -- the counters of a system.
 *
 * A part of dlock.h, which includes it: programs include dlock.h alone. */
#ifndef DLOCK_DLOCK_METRICS_H
#define DLOCK_DLOCK_METRICS_H

#ifndef DLOCK_H
#error "include dlock.h, of which this is a part"
#endif

/* ---- metrics: the counters of a system ---- */

/* The counters of a system since dlock_open(), apart from the answers of acquires.  A
 * new counter is appended. */
#define DLOCK_COUNTERS(X)                                                              \
    X(lost, "holds that were lost: expired, taken over, or freed by force")            \
    X(renewals, "renewals that extended a lease")                                      \
    X(renewals_failed, "renewals that failed or got no answer")                        \
    X(acquire_commands, "commands sent to stores by acquires")                         \
    X(other_commands, "commands sent to stores by all other calls")                    \
    X(wake_ups, "times that a waiter was told of a release")                           \
    X(useless_wake_ups, "wake-ups after which the waiter found the lock held")         \
    X(local_grants, "locks handed over inside the process, without the store")         \
    X(debts, "releases that no caller waits for, also of unanswered acquires")         \
    X(debts_paid, "releases that no caller waits for, answered by the store")          \
    X(debts_given_up, "releases that no caller waits for, unanswered until the lease ended") \
    X(fail_overs, "fail-overs: changes to another master")                             \
    X(lost_expired, "lost holds whose lease ended before a renewal was answered")        \
    X(lost_refused, "lost holds that the store did not have for this owner any more")  \
    X(lost_fail_over, "lost holds that the master before a fail-over had granted")     \
    X(unacknowledged, "grants and renewals that too few replicas acknowledged in time") \
    X(redirects_moved, "answers of a Redis Cluster that another node has the slot (MOVED)") \
    X(redirects_ask, "answers that the key may be at the node to which its slot moves (ASK)") \
    X(redirects_try_again, "answers that keys are missing while their slot moves (TRYAGAIN)") \
    X(redirects_cluster_down, "answers that the cluster does not serve the slot (CLUSTERDOWN)") \
    X(map_refreshes, "requests for the map of the slots that a command caused")

enum { DLOCK_STATUS_LIMIT = 16, DLOCK_HISTOGRAM_BUCKETS = 28 };

/* Counts of durations.  Bucket i counts the durations below 2^i microseconds that fit
 * no earlier bucket; the last bucket counts all longer ones. */
typedef struct dlock_histogram {
    uint64_t buckets[DLOCK_HISTOGRAM_BUCKETS];
    uint64_t sum_us;
} dlock_histogram;

typedef struct dlock_metrics {
    uint64_t acquires[DLOCK_STATUS_LIMIT]; /* answers of acquires, by dlock_status */
    dlock_histogram wait; /* from the call of an acquire to its grant              */
    dlock_histogram hold; /* from the grant of a hold to its last level's release  */
#define X(name, help) uint64_t name;
    DLOCK_COUNTERS(X)
#undef X
} dlock_metrics;

/* The function that dlock_metrics_read() calls: `size` is sizeof(dlock_metrics) where
 * the program was built. */
void dlock_metrics_read_sized(dlock_system *sys, dlock_metrics *out, size_t size);

/* Copy all counters of the system into *out.  Other threads count while the call reads,
 * so two counters of one call may show slightly different moments.  If `sys` is NULL,
 * *out is all zero.  Asks no store.  Any thread. */
static inline void dlock_metrics_read(dlock_system *sys, dlock_metrics *out)
{
    dlock_metrics_read_sized(sys, out, sizeof(*out));
}

/* The end of a bucket in microseconds; UINT64_MAX for the last bucket. */
uint64_t dlock_histogram_end_us(size_t bucket);

#endif /* DLOCK_DLOCK_METRICS_H */
