/* SPDX-License-Identifier: MIT */
/* latency.h -- a distribution of durations: exact up to 1,023 us, and then known to two parts in a
 * thousand, see base/os/histogram.h.
 *
 * Threads     One.
 */
#ifndef LOADTEST_OPEN_LOOP_LATENCY_H
#define LOADTEST_OPEN_LOOP_LATENCY_H

#include <stddef.h>
#include <stdint.h>

#include "loadtest/kit/buckets.h"

enum {
    LATENCY_BITS = 9,
    LATENCY_BUCKETS = 25 << LATENCY_BITS, /* up to 2^33 us, which is over two hours */
};

struct latency {
    int64_t buckets[LATENCY_BUCKETS];
    uint64_t count;
    int64_t max_ns;
    double sum_ns;
};

/* Count one duration; below 0 counts as 0, and what is longer than the last bucket is
 * counted in the last one.  max_ns is exact. */
void latency_add(struct latency *latency, int64_t duration_ns);

/* The duration that `share` (0 to 1) of all did not exceed, in milliseconds, at most
 * two thousandths too long, and never longer than the longest; 0 if there are none. */
double latency_quantile_ms(const struct latency *latency, double share);

/* Add the count of each bucket to that of the few buckets which a live view shows. */
void latency_add_to(const struct latency *latency, int64_t buckets[BUCKETS]);

/* The arithmetic mean in milliseconds; 0 if there are none. */
double latency_mean_ms(const struct latency *latency);

#endif /* LOADTEST_OPEN_LOOP_LATENCY_H */
