/* SPDX-License-Identifier: MIT */
/* histogram.h -- durations, or sizes, in buckets that grow with them: four to every doubling.
 *
 * The names speak of durations in microseconds; a histogram of sizes counts a size of N
 * things where one of durations counts N microseconds.
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
    HISTOGRAM_DOUBLINGS = 26, /* up to 67 seconds; what is longer is in the last */
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

/* Count a duration; below 0 counts as 0. */
void histogram_record(struct histogram *h, int64_t duration_ns);

/* Count a size, of so many things. */
void histogram_record_size(struct histogram *h, uint64_t size);

/* Add what `h` holds to `sum`. */
void histogram_collect(struct histogram *h, struct histogram_sum *sum);

/* The bucket a duration belongs to, and the first duration that is past a bucket. */
size_t histogram_bucket(uint64_t duration_us);
uint64_t histogram_bucket_end_us(size_t bucket);

/* The duration that a share (0 to 1) of all stayed below, in microseconds, rounded up
 * to its bucket's end; 0 if there are none. */
uint64_t histogram_quantile_us(const struct histogram_sum *sum, double share);

#endif /* APP_HISTOGRAM_H */
