/* SPDX-License-Identifier: MIT */
/* histogram.h -- counts durations or sizes in buckets, four for each doubling.
 *
 * The names are those of durations in microseconds.  A histogram of sizes counts a size
 * of N things in the bucket of N microseconds.
 *
 * Threads     Any.
 */
#ifndef APP_HISTOGRAM_H
#define APP_HISTOGRAM_H

#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

enum {
    HISTOGRAM_PARTS = 4,   /* buckets per doubling: a value is known within a quarter */
    HISTOGRAM_DOUBLINGS = 26, /* up to 134 seconds; the last bucket, which begins at 117
                               * seconds, also has all longer ones */
    HISTOGRAM_BUCKETS = HISTOGRAM_PARTS * HISTOGRAM_DOUBLINGS,
};

struct histogram {
    atomic_uint_fast64_t buckets[HISTOGRAM_BUCKETS];
    atomic_uint_fast64_t sum_us;
};

/* The sum of one or more histograms. */
struct histogram_sum {
    uint64_t buckets[HISTOGRAM_BUCKETS];
    uint64_t sum_us;
};

/* Count a duration; a negative one counts as 0. */
void histogram_record(struct histogram *h, int64_t duration_ns);

/* Count a size. */
void histogram_record_size(struct histogram *h, uint64_t size);

/* Add the counts of `h` to `sum`. */
void histogram_collect(struct histogram *h, struct histogram_sum *sum);

/* The bucket of a duration, and the first duration above a bucket, in microseconds. */
size_t histogram_bucket(uint64_t duration_us);
uint64_t histogram_bucket_end_us(size_t bucket);

/* The duration below which the share `share` (0 to 1) of all durations is, in
 * microseconds, rounded up to the end of its bucket; 0 if there are no durations. */
uint64_t histogram_quantile_us(const struct histogram_sum *sum, double share);

#endif /* APP_HISTOGRAM_H */
