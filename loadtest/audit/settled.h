/* SPDX-License-Identifier: MIT */
/* settled.h -- can a request that was sent still become an order?  The audit calls a promise
 * broken, and an unanswered request closed, only if none can.
 *
 * Threads     Each call uses what the caller gives it.
 */
#ifndef LOADTEST_AUDIT_SETTLED_H
#define LOADTEST_AUDIT_SETTLED_H

#include <stdbool.h>
#include <stdint.h>

#include "db/lab_db.h"
#include "loadtest/lab/lab.h"

enum { SETTLED_WHY_MAX = 320 };

/* Wait until no order waits in the stream `name` of the lab's Redis, at most `limit_ms`.  An order
 * leaves the stream after the COMMIT of its row.  With `stops`, interrupted() ends the wait;
 * without it, a run that was interrupted still waits for its rows.  False: orders wait, or Redis
 * did not say how many; `why` has the reason. */
bool settled_wait_drained(const struct lab *lab, const char *name, int64_t limit_ms, bool stops,
                          char why[SETTLED_WHY_MAX]);

/* Wait until no session of a service at this server has worked for a second, and no process with a
 * session there is stopped, at most `limit_ms`.  False: there is such a session or process, or the
 * database does not answer; `why` has the last reason.  A process is found by the name that
 * seckilld gives itself, host:pid, so a process of another machine, or with a --process of its own,
 * counts as not stopped.  A request that waits longer than a second for a lock is not seen. */
bool settled_wait_quiet(lab_db *db, int64_t limit_ms, char why[SETTLED_WHY_MAX]);

#endif /* LOADTEST_AUDIT_SETTLED_H */
