/* SPDX-License-Identifier: MIT */
/* compare.h -- which of two numbers is the greater one. */
#ifndef LOADTEST_KIT_COMPARE_H
#define LOADTEST_KIT_COMPARE_H

#include <stdint.h>

/* Below 0, 0 or above 0, as qsort() asks for it, of two numbers of one type.  Each
 * argument is evaluated twice. */
#define COMPARE(a, b) (((a) > (b)) - ((a) < (b)))

static inline int64_t least(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

static inline int64_t greatest(int64_t a, int64_t b)
{
    return a > b ? a : b;
}

#endif /* LOADTEST_KIT_COMPARE_H */
