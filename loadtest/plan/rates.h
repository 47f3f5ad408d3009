/* SPDX-License-Identifier: MIT */
/* rates.h -- the rates of a plan, read from what `seckill bench` measured.
 *
 * Threads     One.
 */
#ifndef LOADTEST_PLAN_RATES_H
#define LOADTEST_PLAN_RATES_H

#include "loadtest/plan/plan.h"

enum { RATES_ORIGIN_MAX = 300 };

/* The rates, and for each a sentence that says where it comes from. */
struct rates_read {
    struct plan_rates rates;
    char orders_origin[RATES_ORIGIN_MAX];
    char refused_origin[RATES_ORIGIN_MAX];
    char locks_origin[RATES_ORIGIN_MAX];
    char measured[RATES_ORIGIN_MAX]; /* the file, when and with which commit */
};

/* Read bench.json, or a run's directory that has one.  False: stderr says which file is
 * missing, and how to get it. */
bool rates_read(const char *path, struct rates_read *out);

/* Read the points of a check, at most `max`; the first has one partition.  False: said on
 * stderr why. */
bool points_read(const char *path, struct plan_point *points, int max, int *count);

#endif /* LOADTEST_PLAN_RATES_H */
