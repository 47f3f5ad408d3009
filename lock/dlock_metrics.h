/* SPDX-License-Identifier: MIT */
/* dlock_metrics.h -- what a system counts.
 *
 * A part of dlock.h, which includes it: programs include dlock.h alone. */
#ifndef DLOCK_DLOCK_METRICS_H
#define DLOCK_DLOCK_METRICS_H

#ifndef DLOCK_H
#error "include dlock.h, of which this is a part"
#endif

/* ---- metrics: what a system counts ---- */

/* The counters of a system beside the answers of acquire, since it was opened.  New ones
 * come last. */
#define DLOCK_COUNTERS(X)                                                              \
    X(lost, "holds found lost: expired, taken over, freed by force")                   \
    X(renewals, "renewals that moved a lease")                                         \
    X(renewals_failed, "renewals that did not, or went unanswered")                    \
    X(acquire_commands, "commands sent to stores by acquires")                         \
    X(other_commands, "commands sent to stores by everything else")                    \
    X(wake_ups, "times that a waiter was told of a release")                           \
    X(useless_wake_ups, "times that it then found the lock held all the same")           \
    X(local_grants, "locks handed over inside the process, without the store")           \
    X(debts, "releases that nobody waited for")                                          \
    X(debts_paid, "those of them that the store answered")                               \
    X(debts_given_up, "those that had no answer until their leases had ended")

enum { DLOCK_STATUS_LIMIT = 16, DLOCK_HISTOGRAM_BUCKETS = 28 };

/* Durations: bucket i counts those below 2^i microseconds that fit no bucket before; the
 * last one all that are longer. */
typedef struct dlock_histogram {
    uint64_t buckets[DLOCK_HISTOGRAM_BUCKETS];
    uint64_t sum_us;
} dlock_histogram;

typedef struct dlock_metrics {
    uint64_t acquires[DLOCK_STATUS_LIMIT]; /* by status: OK is acquired, and so on */
    dlock_histogram wait; /* how long acquires that were granted took              */
    dlock_histogram hold; /* from the grant of a hold to its last level's release  */
#define X(name, help) uint64_t name;
    DLOCK_COUNTERS(X)
#undef X
} dlock_metrics;

/* dlock_metrics_read() calls this: `size` is sizeof(dlock_metrics) where the program was
 * built. */
void dlock_metrics_read_sized(dlock_system *sys, dlock_metrics *out, size_t size);

/* Read them all, while others count on.  Asks no store.  Any thread. */
static inline void dlock_metrics_read(dlock_system *sys, dlock_metrics *out)
{
    dlock_metrics_read_sized(sys, out, sizeof(*out));
}

/* Where a bucket ends; UINT64_MAX for the last. */
uint64_t dlock_histogram_end_us(size_t bucket);

#endif /* DLOCK_DLOCK_METRICS_H */
