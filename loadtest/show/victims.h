/* SPDX-License-Identifier: MIT */
/* victims.h -- injects faults into the processes of the sale: holds, stops, kills them, and cuts
 * their wires.
 *
 * trouble.h decides which fault is possible; these functions inject it.  `process` counts from 0.
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
/* Can this fault be armed in the chosen process, or, for -1, in any process? */
bool victims_has_candidate(const struct show_faults *trouble, enum show_fault fault,
                           int process);

/* Give the fault, which is off, to a process; -1: to the next holder. */
void victims_take(struct show_faults *trouble, enum show_fault fault, int process);
/* Take the fault back, which is not off. */
void victims_release(struct show_faults *trouble, enum show_fault fault);
/* Ask whether a thread has reached the point of an armed fault, and go on with the fault. */
void victims_step(struct show_faults *trouble);

#endif /* LOADTEST_SHOW_VICTIMS_H */
