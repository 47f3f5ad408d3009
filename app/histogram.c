/* SPDX-License-Identifier: MIT */
/* histogram.c -- counts durations or sizes in buckets, four for each doubling. */
#include "app/histogram.h"

size_t histogram_bucket(uint64_t duration_us)
{
    size_t doubling;
    size_t bucket;

    if (duration_us < HISTOGRAM_PARTS)
        return (size_t)duration_us;
    doubling = (size_t)(63 - __builtin_clzll(duration_us));
    bucket = (doubling - 1) * HISTOGRAM_PARTS +
             (size_t)(duration_us >> (doubling - 2) & (HISTOGRAM_PARTS - 1));
    return bucket < HISTOGRAM_BUCKETS ? bucket : HISTOGRAM_BUCKETS - 1;
}

uint64_t histogram_bucket_end_us(size_t bucket)
{
    size_t doubling = bucket / HISTOGRAM_PARTS + 1;

    if (bucket < HISTOGRAM_PARTS)
        return bucket + 1;
    return (uint64_t)(HISTOGRAM_PARTS + bucket % HISTOGRAM_PARTS + 1) << (doubling - 2);
}

static void add(atomic_uint_fast64_t *counter, uint64_t n)
{
    atomic_fetch_add_explicit(counter, n, memory_order_relaxed);
}

void histogram_record(struct histogram *h, int64_t duration_ns)
{
    histogram_record_size(h, duration_ns > 0 ? (uint64_t)duration_ns / 1000 : 0);
}

void histogram_record_size(struct histogram *h, uint64_t size)
{
    add(&h->buckets[histogram_bucket(size)], 1);
    add(&h->sum_us, size);
}

void histogram_collect(struct histogram *h, struct histogram_sum *sum)
{
    for (size_t i = 0; i < HISTOGRAM_BUCKETS; i++)
        sum->buckets[i] += atomic_load_explicit(&h->buckets[i], memory_order_relaxed);
    sum->sum_us += atomic_load_explicit(&h->sum_us, memory_order_relaxed);
}

uint64_t histogram_quantile_us(const struct histogram_sum *sum, double share)
{
    uint64_t total = 0;
    uint64_t seen = 0;

    for (size_t i = 0; i < HISTOGRAM_BUCKETS; i++)
        total += sum->buckets[i];
    for (size_t i = 0; i < HISTOGRAM_BUCKETS; i++) {
        seen += sum->buckets[i];
        if (seen > 0 && (double)seen >= share * (double)total)
            return histogram_bucket_end_us(i);
    }
    return 0;
}
