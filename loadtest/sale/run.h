/* SPDX-License-Identifier: MIT */
/* run.h -- one run: service processes, load, a hazard, and the audit after it.
 *
 * Everything it leaves is in one directory: run.json, the ledgers, load.json, wrk.txt,
 * seckilld-<i>.log, orders.tsv, stock.json, verdict.json, and locks/ and writes.tsv if the
 * locks were recorded.
 */
#ifndef LOADTEST_SALE_RUN_H
#define LOADTEST_SALE_RUN_H

#include "loadtest/sale/run_plan.h"

/* Do it.  EXIT_VALID: it was done and judged, whatever the verdict.  EXIT_INTERRUPTED: it
 * was cut short, and what there is was written.  Anything else: result->reason says why,
 * and so does stderr unless the plan is quiet; of EXIT_USAGE, seckilld refused its
 * settings, so that the same plan will fail again. */
enum exit_code run_once(const struct run_plan *plan, struct run_result *result);

#endif /* LOADTEST_SALE_RUN_H */
