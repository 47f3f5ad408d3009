/* SPDX-License-Identifier: MIT */
/* history.h -- faults made from outside, in the same history as the locks' calls.
 *
 * A file of the recorder's format beside those of the processes, so that `seckill check`
 * knows what gave way.  BEGUN is in it before the fault is made and ENDED after it is
 * over: whatever a hold suffered lies between the two.
 *
 * Threads     Any.  Every function but fault_history_open() takes NULL, and then does
 *             nothing.
 */
#ifndef LOADTEST_FAULT_HISTORY_H
#define LOADTEST_FAULT_HISTORY_H

#include <stdbool.h>
#include <sys/types.h>

#include "lock/record/record.h"

struct fault_history; /* opaque */

/* A new file in `dir`, which is made (but not its parents).  NULL: said on stderr why. */
struct fault_history *fault_history_open(const char *dir);

/* False: a record found no room, said on stderr.  The history has holes then. */
bool fault_history_close(struct fault_history *h);

/* `name` is what people read, such as "server-stop redis"; the same name and pid end
 * what they began.  `pid`: of the process concerned, 0: a server of the lab.  `breaks`:
 * what of a lease gives way; DLOCK_ASSUMES_NONE: nothing.  HAPPENED: at this instant,
 * such as the kill of a process of ours, which nothing can outlast.  What takes a round
 * trip to make has BEGUN and ENDED. */
void fault_history_add(struct fault_history *h, dlock_fault_phase phase,
                       const char *name, pid_t pid, dlock_assumption breaks);

#endif /* LOADTEST_FAULT_HISTORY_H */
