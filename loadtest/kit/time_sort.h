/* SPDX-License-Identifier: MIT */
/* time_sort.h -- sorts elements by their time, fast if most are in order already. */
#ifndef LOADTEST_KIT_TIME_SORT_H
#define LOADTEST_KIT_TIME_SORT_H

#include <stddef.h>

/* Bring `count` elements of `size` bytes each, at most INSERTION_ELEMENT_MAX and
 * RADIX_ELEMENT_MAX, into ascending order, as qsort() does with `compare`.  The first
 * key of that order is the time, an int64_t `time_at` bytes from the beginning of an
 * element.  Few elements should be of one time, since these are compared with each
 * other.  The program ends if there is no memory (see memory.h). */
void time_sort(void *elements, size_t count, size_t size, size_t time_at,
               int (*compare)(const void *, const void *));

#endif /* LOADTEST_KIT_TIME_SORT_H */
