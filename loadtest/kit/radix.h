/* SPDX-License-Identifier: MIT */
/* radix.h -- sorting indices by numbers, in a time that grows as their count does.
 *
 * Least significant digit first, as in Knuth, The Art of Computer Programming, volume 3,
 * section 5.2.5 (algorithm R, with arrays in place of linked lists).  Digits in which all
 * keys agree cost nothing, so that small numbers are sorted in one or two passes. */
#ifndef LOADTEST_KIT_RADIX_H
#define LOADTEST_KIT_RADIX_H

#include <stddef.h>
#include <stdint.h>

/* Bring `indices` into ascending order of keys[index].  Indices of equal keys keep their
 * order, so that sorting by a second key and then by a first key sorts by both.  `spare`
 * has room for `count` indices, and holds nothing of use afterwards.  Every index is
 * smaller than the number of keys, and may appear any number of times. */
void radix_sort(uint32_t *indices, uint32_t *spare, size_t count, const uint64_t *keys);

/* The numbers from 0 to count - 1, with as many spare ones behind them, for radix_sort().
 * The caller frees them.  The program ends if there is no memory (see memory.h). */
uint32_t *radix_order(size_t count);

/* Move element order[i] to place i, for every i.  Each of the `count` elements, of `size`
 * bytes, at most RADIX_ELEMENT_MAX, moves once.  `order` has each number below `count` once,
 * and is used up. */
enum { RADIX_ELEMENT_MAX = 256 };
void radix_arrange(void *elements, size_t size, size_t count, uint32_t *order);

/* A time, or any signed number, as a key in the same order. */
static inline uint64_t radix_key(int64_t number)
{
    return (uint64_t)number ^ UINT64_C(1) << 63;
}

#endif /* LOADTEST_KIT_RADIX_H */
