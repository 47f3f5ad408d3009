/* SPDX-License-Identifier: MIT */
/* histogram.h -- the buckets of a histogram, which grow with the values.
 *
 * There are 2^bits buckets for each doubling of a value, and one for each value below 2^bits, as
 * in HdrHistogram.  So a value is known to one part in 2^bits. */
#ifndef DLOCK_HISTOGRAM_H
#define DLOCK_HISTOGRAM_H

#include <stddef.h>
#include <stdint.h>

/* The bucket of a value among `count`, of which the last also has all greater values. */
static inline size_t histogram_bucket(uint64_t value, unsigned bits, size_t count)
{
    unsigned shift = value >> bits == 0 ? 0 : 63 - (unsigned)__builtin_clzll(value) - bits;
    size_t bucket = ((size_t)shift << bits) + (size_t)(value >> shift);

    return bucket < count ? bucket : count - 1;
}

/* The first value above a bucket. */
static inline uint64_t histogram_end(size_t bucket, unsigned bits)
{
    size_t shift = bucket >> bits == 0 ? 0 : (bucket >> bits) - 1;

    return (uint64_t)(bucket - (shift << bits) + 1) << shift;
}

#endif /* DLOCK_HISTOGRAM_H */
