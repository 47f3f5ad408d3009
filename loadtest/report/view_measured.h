/* SPDX-License-Identifier: MIT */
/* view_measured.h -- inside: cells of what is only measured. */
#ifndef LOADTEST_REPORT_VIEW_MEASURED_H
#define LOADTEST_REPORT_VIEW_MEASURED_H

#include <jansson.h>

#include "loadtest/report/cells.h"

/* The rows of bench.json, and the parts of bench-locks.json. */
void view_bench(struct view *view, const json_t *rows);
void view_bench_locks(struct view *view, const json_t *parts);

#endif /* LOADTEST_REPORT_VIEW_MEASURED_H */
