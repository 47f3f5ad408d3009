/* SPDX-License-Identifier: MIT */
/* run.h -- one run: service processes, load, a hazard, and the audit after it.
 *
 * All files of the run are in one directory: run.json, service.json, the ledgers, load.json,
 * wrk.txt, seckilld-<i>.log, stopped.json, orders.tsv, stock.json and verdict.json; front.cfg and
 * front.log if HAProxy ran; locks/ and writes.tsv if the locks were recorded.  Of a remote service
 * there are the ledgers, load.json and wrk.txt.
 */
#ifndef LOADTEST_SALE_RUN_H
#define LOADTEST_SALE_RUN_H

#include "loadtest/sale/run_plan.h"

/* Make the run.  EXIT_VALID: the run was made and judged, whatever the verdict; all findings about
 * a remote service are unknown.
 * EXIT_INTERRUPTED: the run was interrupted, and its results so far are written.  After these two
 * answers there is a reason only if a process died, or ended by a bug when it was stopped; after
 * every other answer there is always a reason.  If the plan is quiet, the reason is in
 * result->reason, otherwise on stderr.  EXIT_USAGE: seckilld refused its settings, so the same plan
 * would fail again.  EXIT_CANNOT_WRITE: a file of the run could not be written.  EXIT_UNAVAILABLE:
 * something else. */
enum exit_code run_once(const struct run_plan *plan, struct run_result *result);

/* Print the verdict with its findings; of a remote service, what was not judged. */
void run_print_verdict(const struct run_plan *plan, const struct run_result *result);

/* The exit status of the verdict.  Of a remote service: EXIT_VALID if an answer named an order,
 * else EXIT_UNKNOWN. */
enum exit_code run_verdict_exit(const struct run_plan *plan, const struct run_result *result);

#endif /* LOADTEST_SALE_RUN_H */
