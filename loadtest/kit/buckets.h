/* SPDX-License-Identifier: MIT */
/* buckets.h -- latencies counted in few buckets that grow with them, for what is shown while a
 * load runs. */
#ifndef LOADTEST_KIT_BUCKETS_H
#define LOADTEST_KIT_BUCKETS_H

#include "base/os/histogram.h"

enum {
    BUCKET_BITS = 3, /* eight buckets for each doubling                                */
    BUCKETS = 192,   /* of microseconds; the last one, which ends at 67 s, has all longer ones */
};

static inline size_t bucket_of_us(uint64_t us)
{
    return histogram_bucket(us, BUCKET_BITS, BUCKETS);
}

/* The bucket below whose end `share` (0 to 1) of all values are; `count`: there are no values. */
static inline size_t buckets_quantile(const int64_t *buckets, size_t count, double share)
{
    int64_t total = 0, seen = 0;
    size_t at = 0;

    for (size_t i = 0; i < count; i++)
        total += buckets[i];
    while (at < count && ((seen += buckets[at]) == 0 || (double)seen < share * (double)total))
        at++;
    return at;
}

/* The end of the bucket that `share` (0 to 1) of all latencies do not exceed, in milliseconds: at
 * most an eighth too long for a latency of 8 us or more.  -1: there are none. */
static inline double buckets_quantile_ms(const int64_t buckets[BUCKETS], double share)
{
    size_t bucket = buckets_quantile(buckets, BUCKETS, share);

    return bucket < BUCKETS ? (double)histogram_end(bucket, BUCKET_BITS) / 1000 : -1;
}

#endif /* LOADTEST_KIT_BUCKETS_H */
