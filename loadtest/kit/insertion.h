/* SPDX-License-Identifier: MIT */
/* insertion.h -- sorting what is nearly sorted, where it lies.
 *
 * Straight insertion, as in Knuth, The Art of Computer Programming, volume 3, section 5.2.1
 * (algorithm S), given up when it takes more steps than other ways of sorting would. */
#ifndef LOADTEST_KIT_INSERTION_H
#define LOADTEST_KIT_INSERTION_H

#include <stdbool.h>
#include <stddef.h>

/* Bring `count` elements of `size` bytes each, at most INSERTION_ELEMENT_MAX, into ascending
 * order, as qsort() does; equal ones keep their order.  False: they are too far from it, and
 * lie in some order now; nothing is lost. */
enum { INSERTION_ELEMENT_MAX = 256 };
bool insertion_sort(void *elements, size_t count, size_t size,
                    int (*compare)(const void *, const void *));

#endif /* LOADTEST_KIT_INSERTION_H */
