/* SPDX-License-Identifier: MIT */
/* bisect.h -- a binary search for the first index at which a condition does not hold. */
#ifndef LOADTEST_KIT_BISECT_H
#define LOADTEST_KIT_BISECT_H

#include <stddef.h>

/* Move the variable `at` on to the first index at which `is_before` does not hold; to
 * `end` if it holds at all of them.  `is_before` is an expression of the index `i`,
 * which the macro declares: true from `at` up to some index, and false from there. */
#define BISECT(at, end, i, is_before)                                                  \
    do {                                                                               \
        for (size_t bisect_end = (end); (at) < bisect_end;) {                          \
            size_t i = (at) + (bisect_end - (at)) / 2;                                 \
                                                                                       \
            if (is_before)                                                             \
                (at) = i + 1;                                                          \
            else                                                                       \
                bisect_end = i;                                                        \
        }                                                                              \
    } while (0)

#endif /* LOADTEST_KIT_BISECT_H */
