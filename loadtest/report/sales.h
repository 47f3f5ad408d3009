/* SPDX-License-Identifier: MIT */
/* sales.h -- one sale under load: the files of its directory, as data of a report. */
#ifndef LOADTEST_REPORT_SALES_H
#define LOADTEST_REPORT_SALES_H

#include <stdbool.h>

#include "loadtest/report/run_files.h"

/* The sale in `name` below `dir` ("." is `dir`): {"run", "verdict", "load", "stopped",
 * "service", "objectives", "orders"}.  "orders" is {"from_us", "step_ms", "orders": [...]}, the
 * number of rows that were made in each step.  A file that is missing or damaged is left out, so
 * the object may be empty.  Of the audit's checks only those that found something are kept, with
 * their examples.  The caller owns the object. */
json_t *sale_gather(const char *dir, const char *name, struct run_data *data);

/* Has the verdict of an audit the stock, the orders and the checks from which the audit concluded
 * it?  Without them a verdict is a word. */
bool sale_has_evidence(const json_t *verdict);

/* Remove the checks of a verdict that found nothing, which are most of a large comparison's
 * text.  NULL is fine. */
void sale_drop_valid(json_t *checks);

#endif /* LOADTEST_REPORT_SALES_H */
