/* SPDX-License-Identifier: MIT */
/* fault.h -- named points in the code at which the laboratory can make things go wrong.
 *
 * Each process (process.h) has its own points.  A point that is not armed costs one
 * load and one predicted branch.  Arming is refused by default: a program that wants
 * faults calls dlock_fault_allow() once at its start.
 *
 * Threads     Any thread may reach a point while another arms or releases it.
 */
#ifndef DLOCK_FAULT_H
#define DLOCK_FAULT_H

#include <stddef.h>

#include "lock/fault_points.h"

/* The number of armed points in all processes (process.h) of this program.  While it is
 * 0, a thread that reaches a point need not find out which process it belongs to. */
extern atomic_int dlock_fault_armed_count;

/* Is any point armed?  Every point asks this first. */
static inline bool dlock_fault_is_any_armed(void)
{
    return __builtin_expect(
        atomic_load_explicit(&dlock_fault_armed_count, memory_order_relaxed) > 0, 0);
}

/* The calling thread reaches `point` while it works under the lock `key`.  Carries out
 * HOLD, STOP and KILL. Returns FAIL or CUT, which the caller has to carry out, or
 * NOTHING. Only the macros below call this function. */
dlock_fault_action dlock_fault_reach(dlock_fault_point point, const char *key);

#define DLOCK_FAULT_ASK(point, key)                                                    \
    (dlock_fault_is_any_armed() ? dlock_fault_reach((point), (key))                    \
                                : DLOCK_FAULT_NOTHING)

/* For a point whose only actions are hold, stop and kill. */
#define DLOCK_FAULT(point, key) ((void)DLOCK_FAULT_ASK(DLOCK_FAULT_##point, (key)))

/* Allow faults in this process from now on. */
void dlock_fault_allow(void);
bool dlock_fault_is_allowed(void);

/* Spare the calling thread: from now on no point catches it.  For threads whose locks
 * are not part of the experiment. */
void dlock_fault_spare_thread(void);

/* Is the action one of those that the point can do? */
bool dlock_fault_can(dlock_fault_point point, dlock_fault_action action);

/* Arm `point`: it catches the next thread that reaches it under the lock `key` ("" or
 * NULL: any lock).  One arming catches one thread.  False, and nothing changes: faults
 * are not allowed, the point does not have this action, the point is armed already, or a
 * thread is held there. */
bool dlock_fault_arm(dlock_fault_point point, dlock_fault_action action,
                     const char *key);

/* Let the held thread go on and disarm the point.  False: no thread was held and the
 * point was not armed. */
bool dlock_fault_release(dlock_fault_point point);

void dlock_fault_look(dlock_fault_point point, dlock_fault_state *out);

/* The name of a point, the place in the code where it lies, and the name of an action;
 * all static.  The find functions return the value for a name; -1: there is no such
 * name. */
const char *dlock_fault_point_name(dlock_fault_point point);
const char *dlock_fault_point_where(dlock_fault_point point);
int dlock_fault_point_find(const char *name);
const char *dlock_fault_action_name(dlock_fault_action action);
int dlock_fault_action_find(const char *name);

#endif /* DLOCK_FAULT_H */
