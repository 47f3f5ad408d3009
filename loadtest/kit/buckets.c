/* SPDX-License-Identifier: MIT */
/* buckets.c -- latencies counted in few buckets that grow with them. */
#include "loadtest/kit/buckets.h"

#include <math.h>

static const double FIRST_US = 100, PER_DOUBLING = 5;

double bucket_end_us(int bucket)
{
    return FIRST_US * exp2((bucket + 1) / PER_DOUBLING);
}

int bucket_of_us(double us)
{
    double k = us > FIRST_US ? floor(log2(us / FIRST_US) * PER_DOUBLING) : 0;

    return k < BUCKETS - 1 ? (int)k : BUCKETS - 1;
}

double buckets_quantile_ms(const int64_t buckets[BUCKETS], double share)
{
    int64_t total = 0, seen = 0;

    for (int k = 0; k < BUCKETS; k++)
        total += buckets[k];
    for (int k = 0; total > 0 && k < BUCKETS; k++) {
        seen += buckets[k];
        if ((double)seen >= share * (double)total)
            return bucket_end_us(k) / 1000;
    }
    return -1;
}
