/* SPDX-License-Identifier: MIT */
/* spread.h -- the median and both ends of several measurements of one figure. */
#ifndef LOADTEST_KIT_SPREAD_H
#define LOADTEST_KIT_SPREAD_H

#include <stddef.h>

#include <jansson.h>

struct spread {
    double median, least, most;
};

/* Of `count` values, at least one.  Sorts them. */
struct spread spread_of(double *values, size_t count);

/* {"median": ..., "min": ..., "max": ...}; the caller owns it. */
json_t *spread_json(struct spread spread);

#endif /* LOADTEST_KIT_SPREAD_H */
