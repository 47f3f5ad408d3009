/* SPDX-License-Identifier: MIT */
/* metrics_read.c -- adds up the cells of a system's counters for the caller.
 *
 * Other threads count meanwhile: each number is right at some moment of the reading,
 * and the total of a histogram is the sum of the buckets that were read. */
#include "base/os/histogram.h"
#include "base/os/thread.h"
#include "lock/era.h"
#include "lock/metrics.h"
#include "lock/sized.h"
#include "lock/system.h"

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
    if (dlock_era(sys) > 1)
        out->fail_overs = dlock_era(sys) - 1; /* the store counts them, not the cells */
}

void dlock_metrics_read_sized(dlock_system *sys, dlock_metrics *out, size_t size)
{
    DLOCK_PUT_OFF_CANCEL;
    dlock_metrics sums = {0};

    if (out == NULL)
        return;
    if (sys != NULL)
        add_up(sys, &sums);
    dlock_hand_out(out, size, &sums, sizeof(sums));
}

uint64_t dlock_histogram_end_us(size_t bucket)
{
    return bucket + 1 < DLOCK_HISTOGRAM_BUCKETS ? histogram_end(bucket, 0) : UINT64_MAX;
}
