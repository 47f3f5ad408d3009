/* SPDX-License-Identifier: MIT */
/* sales.h -- one sale under load: what its directory keeps, as data of a report. */
#ifndef LOADTEST_REPORT_SALES_H
#define LOADTEST_REPORT_SALES_H

#include "loadtest/report/run_files.h"

/* The sale in `name` below `dir` ("." is `dir`): {"run", "verdict", "load", "stopped",
 * "service", "objectives", "orders"}, where "orders" is as of sale_orders_over_time(); a file
 * that is missing or damaged is left out, so the object may be empty.  Of the audit's checks only
 * those that found something are kept, with their examples.  The caller owns it. */
json_t *sale_gather(const char *dir, const char *name, struct run_data *data);

/* Remove the checks of a verdict that found nothing, which are most of a large comparison's
 * text.  NULL is fine. */
void sale_drop_valid(json_t *checks);

/* The orders over time from orders.tsv: {"from_us", "step_ms", "orders": [...]}: how many rows
 * were made in each step from `began_us` on (from the first row on if that is 0).  NULL: there
 * are none.  The caller owns it. */
json_t *sale_orders_over_time(const char *dir, int64_t began_us);

#endif /* LOADTEST_REPORT_SALES_H */
