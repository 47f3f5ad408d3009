/* SPDX-License-Identifier: MIT */
/* history.h -- faults that the laboratory injects, in the same history as the calls to the locks.
 *
 * The faults have a file of the recorder's format beside the files of the processes, so that
 * `seckill check` can name the assumption that a fault broke.  The record BEGUN is written before
 * the fault is injected, and ENDED after the fault is over, so every effect on a hold lies
 * between the two.
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

/* A new file in `dir`, which is made (but not its parents).  NULL: the reason is on stderr. */
struct fault_history *fault_history_open(const char *dir);

/* False: a record found no room, and stderr says so.  The history has holes then. */
bool fault_history_close(struct fault_history *h);

/* Add a record of a fault.  `name` is for people, such as "server-stop redis"; BEGUN and ENDED of
 * one fault have the same name and pid.  `pid`: of the process concerned, 0: a server of the lab.
 * `breaks`: the assumption of a lease that the fault breaks; DLOCK_ASSUMES_NONE: none.  The phase
 * HAPPENED is for a fault of one instant, such as the kill of a process.  A fault that takes a
 * round trip has BEGUN and ENDED. */
void fault_history_add(struct fault_history *h, dlock_fault_phase phase,
                       const char *name, pid_t pid, dlock_assumption breaks);

#endif /* LOADTEST_FAULT_HISTORY_H */
