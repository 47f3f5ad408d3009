/* SPDX-License-Identifier: MIT */
/* metrics.h -- the counters of a system.
 *
 * The counters exist several times, in cells.  Threads are spread over the cells, so
 * that few threads write to the same cache line.
 *
 * Threads     Any. */
#ifndef DLOCK_METRICS_H
#define DLOCK_METRICS_H

#include <stdatomic.h>

#include "base/redis/acknowledged.h"
#include "base/redis/redirect.h"
#include "lock/dlock.h"

enum dlock_metric {
#define X(name, help) DLOCK_METRIC_##name,
    DLOCK_COUNTERS(X)
#undef X
    DLOCK_METRIC_COUNT
};

enum { DLOCK_METRICS_CELLS = 16 };

struct dlock_durations {
    atomic_uint_fast64_t buckets[DLOCK_HISTOGRAM_BUCKETS];
    atomic_uint_fast64_t sum_us;
};

struct dlock_cell {
    _Alignas(64) atomic_uint_fast64_t acquires[DLOCK_STATUS_LIMIT];
    atomic_uint_fast64_t counters[DLOCK_METRIC_COUNT];
    struct dlock_durations wait;
    struct dlock_durations hold;
};

struct dlock_tally {
    struct dlock_cell cells[DLOCK_METRICS_CELLS];
};

/* The number of commands that this thread has sent to stores other than Redis, for all
 * systems.  Each store's code adds to it where it sends. */
extern _Thread_local uint64_t dlock_commands_sent;

/* The number of commands to all stores; base/redis/ counts those to Redis. */
static inline uint64_t dlock_commands_count(void)
{
    return dlock_commands_sent + *redis_commands_here();
}

/* The commands that the calling thread or fiber has sent to stores so far, its writes that too
 * few replicas have acknowledged, and what its commands met in a Redis Cluster. */
struct dlock_spent {
    uint64_t commands;
    uint64_t unacknowledged;
    uint64_t in_cluster[REDIS_CLUSTER_COUNT_COUNT];
};

struct dlock_spent dlock_spent_here(void);

/* Add what the calling thread has spent since `before` to the metrics: the commands to
 * the counter `commands`, the others to their own counters. */
void dlock_metrics_spent(struct dlock_tally *tally, enum dlock_metric commands,
                         const struct dlock_spent *before);

void dlock_metrics_add(struct dlock_tally *tally, enum dlock_metric which,
                       uint64_t count);

/* Count an acquire that answered `st`. */
void dlock_metrics_acquire(struct dlock_tally *tally, dlock_status st);

/* Count the duration of an acquire that was granted, and the duration of a hold. */
void dlock_metrics_wait(struct dlock_tally *tally, int64_t duration_ns);
void dlock_metrics_hold(struct dlock_tally *tally, int64_t duration_ns);

/* Add the counters to *out.  Other threads count meanwhile: each number is right at some moment of
 * the reading, and the total of a histogram is the sum of the buckets that were read. */
void dlock_metrics_sum(struct dlock_tally *tally, dlock_metrics *out);

#endif /* DLOCK_METRICS_H */
