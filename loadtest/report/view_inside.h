/* SPDX-License-Identifier: MIT */
/* view_inside.h -- inside: what makes the cells of a view. */
#ifndef LOADTEST_REPORT_VIEW_INSIDE_H
#define LOADTEST_REPORT_VIEW_INSIDE_H

#include "loadtest/report/view.h"

/* A new cell at the end, with "" for its names; earlier pointers to cells end. */
struct view_cell *view_add(struct view *view);

/* Add a value; one that is not above 0, or that has no room, is passed over. */
void values_add(struct view_values *values, double value);

/* The rows of bench.json, and the parts of bench-locks.json. */
void view_bench(struct view *view, const json_t *rows);
void view_bench_locks(struct view *view, const json_t *parts);

#endif /* LOADTEST_REPORT_VIEW_INSIDE_H */
