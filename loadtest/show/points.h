/* SPDX-License-Identifier: MIT */
/* points.h -- the lines of the page: answers and latencies of the load, four points a second.
 *
 * Threads     One.
 */
#ifndef LOADTEST_SHOW_POINTS_H
#define LOADTEST_SHOW_POINTS_H

#include <jansson.h>

#include "loadtest/sale/control.h"

enum {
    POINTS_STEP_MS = 250, /* from a point to the next                                   */
    POINTS_KEPT = 160,    /* points that are kept: forty seconds                        */
    POINTS_WINDOW = 4,    /* points that a percentile is taken over                     */
    POINTS_ENOUGH = 100,  /* the least number of orders for a p99                       */
};

struct show_point {
    int64_t accepted, sold_out, other; /* answers of this step                          */
    int64_t p50_us, p99_us;            /* over POINTS_WINDOW steps; -1: too few          */
};

/* Begins as {0}, and points_resume() before the first look at points_is_due(). */
struct show_points {
    struct show_point kept[POINTS_KEPT];
    int64_t count;       /* of all points; the oldest are forgotten                     */
    int64_t due_ns;      /* when the next point is due, monotonic clock                 */
    int64_t last[3];     /* accepted, sold-out, other at the last point                 */
    int64_t buckets[POINTS_WINDOW + 1][CONTROL_BUCKETS]; /* at the last points           */
};

/* The load begins, or goes on: the next point is due a step from now. */
void points_resume(struct show_points *points);

/* Is the next point due? */
bool points_is_due(const struct show_points *points);

/* Add a point for what the load was answered since the last one. */
void points_add(struct show_points *points, const struct control *control);

/* The points, oldest first; the caller owns them. */
json_t *points_json(const struct show_points *points);

#endif /* LOADTEST_SHOW_POINTS_H */
