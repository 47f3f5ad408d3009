/* SPDX-License-Identifier: MIT */
/* spread.c -- the middle and both ends of several measurements. */
#include "loadtest/kit/spread.h"

#include <stdlib.h>

static int compare_doubles(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;

    return (x > y) - (x < y);
}

struct spread spread_of(double *values, size_t count)
{
    double *upper = &values[count / 2];

    qsort(values, count, sizeof *values, compare_doubles);
    return (struct spread){
        .median = count % 2 ? *upper : (upper[-1] + *upper) / 2,
        .least = values[0],
        .most = values[count - 1],
    };
}

json_t *spread_json(struct spread spread)
{
    return json_pack("{s:f, s:f, s:f}", "median", spread.median, "min", spread.least,
                     "max", spread.most);
}
