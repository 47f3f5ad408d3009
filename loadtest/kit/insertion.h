/* SPDX-License-Identifier: MIT */
/* insertion.h -- sorts a nearly sorted array in place.
 *
 * Straight insertion, as in Knuth, The Art of Computer Programming, volume 3, section 5.2.1
 * (algorithm S).  The sort is given up when it takes more steps than other algorithms would. */
#ifndef LOADTEST_KIT_INSERTION_H
#define LOADTEST_KIT_INSERTION_H

#include <stdbool.h>
#include <stddef.h>

/* Bring `count` elements of `size` bytes each, at most INSERTION_ELEMENT_MAX, into ascending
 * order, as qsort() does; equal elements keep their order.  False: the array is not nearly
 * sorted, and its elements now are in some other order. */
enum { INSERTION_ELEMENT_MAX = 256 };
bool insertion_sort(void *elements, size_t count, size_t size,
                    int (*compare)(const void *, const void *));

#endif /* LOADTEST_KIT_INSERTION_H */
