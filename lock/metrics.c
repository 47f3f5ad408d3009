/* SPDX-License-Identifier: MIT */
/* metrics.c -- the counters of a system. */
#include "lock/metrics.h"

#include <string.h>

#include "base/os/histogram.h"
#include "lock/owner.h"

_Thread_local uint64_t dlock_commands_sent;

static struct dlock_cell *cell_here(struct dlock_tally *tally)
{
    return &tally->cells[dlock_owner_here()->thread % DLOCK_METRICS_CELLS];
}

static void count(atomic_uint_fast64_t *counter, uint64_t by)
{
    atomic_fetch_add_explicit(counter, by, memory_order_relaxed);
}

void dlock_metrics_add(struct dlock_tally *tally, enum dlock_metric which, uint64_t by)
{
    if (by > 0)
        count(&cell_here(tally)->counters[which], by);
}

struct dlock_spent dlock_spent_here(void)
{
    struct dlock_spent spent = {.commands = dlock_commands_count(),
                                .unacknowledged = *redis_unacknowledged_here()};

    memcpy(spent.in_cluster, redis_cluster_counts_here(), sizeof(spent.in_cluster));
    return spent;
}

void dlock_metrics_spent(struct dlock_tally *tally, enum dlock_metric commands,
                         const struct dlock_spent *before)
{
    struct dlock_spent now = dlock_spent_here();

    dlock_metrics_add(tally, commands, now.commands - before->commands);
    dlock_metrics_add(tally, DLOCK_METRIC_unacknowledged,
                      now.unacknowledged - before->unacknowledged);
#define X(name)                                                                        \
    dlock_metrics_add(tally, DLOCK_METRIC_##name,                                      \
                      now.in_cluster[REDIS_COUNT_##name] -                             \
                          before->in_cluster[REDIS_COUNT_##name]);
    REDIS_CLUSTER_COUNTS(X)
#undef X
}

void dlock_metrics_acquire(struct dlock_tally *tally, dlock_status st)
{
    count(&cell_here(tally)->acquires[st], 1);
}

static void record(struct dlock_durations *durations, int64_t duration_ns)
{
    uint64_t us = duration_ns > 0 ? (uint64_t)duration_ns / 1000 : 0;

    count(&durations->buckets[histogram_bucket(us, 0, DLOCK_HISTOGRAM_BUCKETS)], 1);
    count(&durations->sum_us, us);
}

void dlock_metrics_wait(struct dlock_tally *tally, int64_t duration_ns)
{
    record(&cell_here(tally)->wait, duration_ns);
}

void dlock_metrics_hold(struct dlock_tally *tally, int64_t duration_ns)
{
    record(&cell_here(tally)->hold, duration_ns);
}

static uint64_t value(atomic_uint_fast64_t *counter)
{
    return atomic_load_explicit(counter, memory_order_relaxed);
}

static void collect(struct dlock_durations *durations, dlock_histogram *out)
{
    for (int i = 0; i < DLOCK_HISTOGRAM_BUCKETS; i++)
        out->buckets[i] += value(&durations->buckets[i]);
    out->sum_us += value(&durations->sum_us);
}

void dlock_metrics_sum(struct dlock_tally *tally, dlock_metrics *out)
{
    for (int i = 0; i < DLOCK_METRICS_CELLS; i++) {
        struct dlock_cell *cell = &tally->cells[i];

        for (int st = 0; st < DLOCK_STATUS_LIMIT; st++)
            out->acquires[st] += value(&cell->acquires[st]);
#define X(name, help) out->name += value(&cell->counters[DLOCK_METRIC_##name]);
        DLOCK_COUNTERS(X)
#undef X
        collect(&cell->wait, &out->wait);
        collect(&cell->hold, &out->hold);
    }
}

uint64_t dlock_histogram_end_us(size_t bucket)
{
    return bucket + 1 < DLOCK_HISTOGRAM_BUCKETS ? histogram_end(bucket, 0) : UINT64_MAX;
}
