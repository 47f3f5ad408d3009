/* SPDX-License-Identifier: MIT */
/* latency.c -- a distribution of durations, in buckets that grow with them. */
#include "loadtest/open_loop/latency.h"

void latency_add(struct latency *latency, int64_t duration_ns)
{
    int64_t ns = duration_ns > 0 ? duration_ns : 0;

    latency->buckets[histogram_bucket((uint64_t)ns / 1000, LATENCY_BITS, LATENCY_BUCKETS)]++;
    latency->count++;
    latency->sum_ns += (double)ns;
    if (ns > latency->max_ns)
        latency->max_ns = ns;
}

double latency_quantile_ms(const struct latency *latency, double share)
{
    double max_ms = (double)latency->max_ns / 1e6;
    size_t bucket = buckets_quantile(latency->buckets, LATENCY_BUCKETS, share);
    double end_ms = (double)histogram_end(bucket, LATENCY_BITS) / 1e3;

    return bucket < LATENCY_BUCKETS - 1 && end_ms < max_ms ? end_ms : max_ms;
}

void latency_add_to(const struct latency *latency, int64_t buckets[BUCKETS])
{
    for (size_t i = 0; i < LATENCY_BUCKETS && latency->count > 0; i++)
        if (latency->buckets[i] > 0)
            buckets[bucket_of_us(histogram_end(i, LATENCY_BITS) - 1)] += latency->buckets[i];
}

double latency_mean_ms(const struct latency *latency)
{
    return latency->count > 0 ? latency->sum_ns / (double)latency->count / 1e6 : 0;
}
