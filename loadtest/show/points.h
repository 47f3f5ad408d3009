/* SPDX-License-Identifier: MIT */
/* points.h -- the lines of the page: answers and latencies, four points a second. */
#ifndef LOADTEST_SHOW_POINTS_H
#define LOADTEST_SHOW_POINTS_H

#include "loadtest/show/sight.h"

/* Add a point for what the load was answered since the last one. */
void sight_add_point(struct sight *sight);

/* The points, oldest first; the caller owns them. */
json_t *sight_points_json(const struct sight *sight);

#endif /* LOADTEST_SHOW_POINTS_H */
