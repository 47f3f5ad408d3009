/* SPDX-License-Identifier: MIT */
/* victims.h -- the processes of the sale as they suffer: caught, stopped, killed, cut off.
 *
 * trouble.h decides what may be done; these functions do it.  `process` counts from 0.
 *
 * Threads     One.
 */
#ifndef LOADTEST_SHOW_VICTIMS_H
#define LOADTEST_SHOW_VICTIMS_H

#include "loadtest/show/faults.h"

/* Is the process stopped by a signal? */
bool victims_is_stopped(const struct show_faults *trouble, int process);
/* Does any process run? */
bool victims_has_process(const struct show_faults *trouble);
/* Does another fault wait at the point of this one? */
bool victims_point_waits(const struct show_faults *trouble, enum show_fault fault);
/* Does another fault hold a thread of the process at the point of this one? */
bool victims_point_holds(const struct show_faults *trouble, enum show_fault fault,
                         int process);
/* Is there a process, or is the chosen one such, that this fault can be armed in? */
bool victims_has_candidate(const struct show_faults *trouble, enum show_fault fault,
                           int process);

/* Give the fault, which is off, to a process; -1: to the next holder. */
void victims_take(struct show_faults *trouble, enum show_fault fault, int process);
/* Take the fault back, which is not off. */
void victims_release(struct show_faults *trouble, enum show_fault fault);
/* Go on with what is armed. */
void victims_step(struct show_faults *trouble);

#endif /* LOADTEST_SHOW_VICTIMS_H */
