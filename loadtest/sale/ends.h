/* SPDX-License-Identifier: MIT */
/* ends.h -- how the processes of a run ended, and what that means for the exit status.
 *
 * A user may kill a process on purpose, to see what the sale does without it.  A process that
 * crashed, or that ended with a status that no signal explains, has a bug, whatever the audit says
 * of the sale.
 */
#ifndef LOADTEST_SALE_ENDS_H
#define LOADTEST_SALE_ENDS_H

#include "loadtest/sale/run_plan.h"

/* Did the process end by a bug?  True for a signal of a crash, such as SIGSEGV, and for a status
 * with which neither seckilld nor HAProxy ends after a SIGTERM, SIGINT or SIGHUP.  False for a
 * process whose end is not known. */
bool ends_by_bug(const struct service *service);

/* After service_stop() and front_stop(): say with why_say() of each process that died in the
 * middle of the run, or ended by a bug when it was stopped, how it ended.  In `why`, the first
 * reason stays.  result->bug is the first of those that are bugs.  `front` is NULL if there was
 * none. */
void ends_look(struct run_result *result, const struct service *services, int count,
               const struct service *front, char *why);

/* The exit status of a command whose run was judged and gave `rc`: EXIT_BUG, with the reason in
 * the last line, if a process ended by a bug, unless the audit found a violation. */
enum exit_code ends_exit(const struct run_result *result, enum exit_code rc);

#endif /* LOADTEST_SALE_ENDS_H */
