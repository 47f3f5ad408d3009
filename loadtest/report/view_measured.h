/* SPDX-License-Identifier: MIT */
/* view_measured.h -- for view.c: the cells of bench and bench-locks, which only have speeds. */
#ifndef LOADTEST_REPORT_VIEW_MEASURED_H
#define LOADTEST_REPORT_VIEW_MEASURED_H

#include <jansson.h>

#include "loadtest/report/cells.h"

/* The rows of bench.json, and the parts of bench-locks.json. */
void view_bench(struct view *view, const json_t *rows);
void view_bench_locks(struct view *view, const json_t *parts);

#endif /* LOADTEST_REPORT_VIEW_MEASURED_H */
