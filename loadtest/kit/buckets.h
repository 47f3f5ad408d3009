/* SPDX-License-Identifier: MIT */
/* buckets.h -- latencies counted in few buckets that grow with them, for what is shown while a
 * load runs. */
#ifndef LOADTEST_KIT_BUCKETS_H
#define LOADTEST_KIT_BUCKETS_H

#include <stdint.h>

enum { BUCKETS = 96 }; /* bucket k ends at 100 us * 2^((k + 1) / 5) */

/* The upper end of a bucket, in microseconds. */
double bucket_end_us(int bucket);

/* The bucket that a latency belongs to. */
int bucket_of_us(double us);

/* The end of the bucket that `share` (0 to 1) of all latencies do not exceed, in milliseconds: at
 * most 15 % too long for a latency above 100 us.  -1: there are none. */
double buckets_quantile_ms(const int64_t buckets[BUCKETS], double share);

#endif /* LOADTEST_KIT_BUCKETS_H */
