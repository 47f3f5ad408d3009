/* SPDX-License-Identifier: MIT */
/* sales.h -- one sale under load: what its directory keeps, as data of a report. */
#ifndef LOADTEST_REPORT_SALES_H
#define LOADTEST_REPORT_SALES_H

#include "loadtest/report/data.h"

/* The sale in `name` below `dir` ("." is `dir`): {"run", "verdict", "load", "stopped",
 * "service", "objectives", "orders", which sale_orders_over_time() says}; what is not there is left out, so that it may be empty.
 * Of the audit's findings only those that found something, with their examples.
 * The caller owns it. */
json_t *sale_gather(const char *dir, const char *name, struct run_data *data);

/* The orders over time from orders.tsv: {"from_us", "step_ms", "orders": [...]}: how many rows
 * were made in each step from `began_us` on (from the first row on if that is 0).  NULL: there
 * are none.  The caller owns it. */
json_t *sale_orders_over_time(const char *dir, int64_t began_us);

#endif /* LOADTEST_REPORT_SALES_H */
