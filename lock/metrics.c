/* SPDX-License-Identifier: MIT */
/* metrics.c -- what a system counts.
 *
 * A snapshot is read while others count: each number is right at some moment of the
 * reading, and a histogram's total is the sum of the buckets that were read. */
#include "lock/metrics.h"

#include "lock/owner.h"
#include "lock/sized.h"
#include "lock/system.h"

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

void dlock_metrics_acquire(struct dlock_tally *tally, dlock_status st)
{
    count(&cell_here(tally)->acquires[st], 1);
}

static void record(struct dlock_durations *durations, int64_t duration_ns)
{
    uint64_t us = duration_ns > 0 ? (uint64_t)duration_ns / 1000 : 0;
    int bucket = us == 0 ? 0 : 64 - __builtin_clzll(us);

    if (bucket >= DLOCK_HISTOGRAM_BUCKETS)
        bucket = DLOCK_HISTOGRAM_BUCKETS - 1;
    count(&durations->buckets[bucket], 1);
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

static void add_up(dlock_system *sys, dlock_metrics *out)
{
    for (int i = 0; i < DLOCK_METRICS_CELLS; i++) {
        struct dlock_cell *cell = &sys->metrics.cells[i];

        for (int st = 0; st < DLOCK_STATUS_LIMIT; st++)
            out->acquires[st] += value(&cell->acquires[st]);
#define X(name, help) out->name += value(&cell->counters[DLOCK_METRIC_##name]);
        DLOCK_COUNTERS(X)
#undef X
        collect(&cell->wait, &out->wait);
        collect(&cell->hold, &out->hold);
    }
}

void dlock_metrics_read_sized(dlock_system *sys, dlock_metrics *out, size_t size)
{
    dlock_metrics sums = {0};

    if (sys != NULL)
        add_up(sys, &sums);
    dlock_hand_out(out, size, &sums, sizeof(sums));
}

uint64_t dlock_histogram_end_us(size_t bucket)
{
    return bucket + 1 < DLOCK_HISTOGRAM_BUCKETS ? UINT64_C(1) << bucket : UINT64_MAX;
}
