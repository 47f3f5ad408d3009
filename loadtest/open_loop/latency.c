/* SPDX-License-Identifier: MIT */
/* latency.c -- a distribution of durations, in buckets that grow with them. */
#include "loadtest/open_loop/latency.h"

enum { EXACT_BITS = 10 };
_Static_assert(1 << EXACT_BITS == LATENCY_PARTS, "a doubling has that many parts");

/* Doubling d (from 1) has 2^(9 + d) us to 2^(10 + d) us in steps of 2^d us, which are the
 * upper half of its 1,024 buckets. */
static size_t bucket_of(uint64_t us)
{
    int doubling = 0;

    if (us >= LATENCY_PARTS)
        doubling = 63 - __builtin_clzll(us) - (EXACT_BITS - 1);
    if (doubling >= LATENCY_DOUBLINGS)
        return LATENCY_BUCKETS - 1;
    return (size_t)doubling * LATENCY_PARTS + (size_t)(us >> doubling);
}

/* The longest duration in a bucket. */
static uint64_t longest_us(size_t bucket)
{
    size_t doubling = bucket / LATENCY_PARTS;

    return ((uint64_t)(bucket % LATENCY_PARTS + 1) << doubling) - 1;
}

void latency_add(struct latency *latency, int64_t duration_ns)
{
    int64_t ns = duration_ns > 0 ? duration_ns : 0;

    latency->buckets[bucket_of((uint64_t)ns / 1000)]++;
    latency->count++;
    latency->sum_ns += (double)ns;
    if (ns > latency->max_ns)
        latency->max_ns = ns;
}

double latency_quantile_ms(const struct latency *latency, double share)
{
    double max_ms = (double)latency->max_ns / 1e6;
    double wanted = share * (double)latency->count;
    uint64_t seen = 0;

    for (size_t i = 0; i < LATENCY_BUCKETS && latency->count > 0; i++) {
        seen += latency->buckets[i];
        if (seen > 0 && (double)seen >= wanted) {
            double end_ms = (double)(longest_us(i) + 1) / 1e3;

            return end_ms < max_ms && i < LATENCY_BUCKETS - 1 ? end_ms : max_ms;
        }
    }
    return max_ms;
}

void latency_add_to(const struct latency *latency, int64_t buckets[BUCKETS])
{
    for (size_t i = 0; i < LATENCY_BUCKETS && latency->count > 0; i++)
        if (latency->buckets[i] > 0)
            buckets[bucket_of_us((double)longest_us(i))] += (int64_t)latency->buckets[i];
}

double latency_mean_ms(const struct latency *latency)
{
    return latency->count > 0 ? latency->sum_ns / (double)latency->count / 1e6 : 0;
}
