/* SPDX-License-Identifier: MIT */
/* fault.h -- named points in the code at which the laboratory can make things go wrong.
 *
 * Each process (process.h) arms its own.  A point that nobody armed costs one load and one predicted branch.  Arming is refused
 * by default: a program that wants faults calls dlock_fault_allow() once at its start.
 * In a bare build (bare.h) the points are nothing, and nothing can be armed.
 *
 * Threads     Any thread may reach a point while another arms or releases it.
 */
#ifndef DLOCK_FAULT_H
#define DLOCK_FAULT_H

#include <stddef.h>

#include "lock/bare.h"
#include "lock/fault_points.h"

/* The number of armed points, in all processes (process.h) of this program: so that a thread
 * need not find out which one it belongs to while there is none. */
extern atomic_int dlock_fault_armed_count;

/* Is any point armed?  Every point asks this first. */
static inline bool dlock_fault_is_any_armed(void)
{
    return !DLOCK_IS_BARE &&
           __builtin_expect(
               atomic_load_explicit(&dlock_fault_armed_count, memory_order_relaxed) > 0, 0);
}

/* Reach a point, working under the lock `key`: FAIL or CUT if the caller has to do that,
 * otherwise NOTHING.  Never call it yourself: use the macros. */
dlock_fault_action dlock_fault_reach(dlock_fault_point point, const char *key);

#define DLOCK_FAULT_ASK(point, key)                                                    \
    (dlock_fault_is_any_armed() ? dlock_fault_reach((point), (key))                    \
                                : DLOCK_FAULT_NOTHING)

/* For a point that can do no more than hold, stop and kill. */
#define DLOCK_FAULT(point, key) ((void)DLOCK_FAULT_ASK(DLOCK_FAULT_##point, (key)))

/* Let this process be given faults from now on.  False, and dlock_error() says so: this
 * is a bare build. */
bool dlock_fault_allow(void);
bool dlock_fault_is_allowed(void);

/* From now on nothing happens to the calling thread at any point: its locks are not those
 * that somebody wants to see fail. */
void dlock_fault_spare_thread(void);

/* Is the action one of those that the point can do? */
bool dlock_fault_can(dlock_fault_point point, dlock_fault_action action);

/* Catch the next thread that reaches `point` under the lock `key` ("" or NULL: any).
 * An arming catches one thread.  False, and nothing changes: faults are not allowed
 * (of a bare build, dlock_error() says that it is one), the point cannot do that, it is
 * armed already, or a thread is held there. */
bool dlock_fault_arm(dlock_fault_point point, dlock_fault_action action,
                     const char *key);

/* Let the held thread go on and disarm the point.  False if it was neither. */
bool dlock_fault_release(dlock_fault_point point);

void dlock_fault_look(dlock_fault_point point, dlock_fault_state *out);

/* Names for points and actions, and back; -1 if there is none of that name. */
const char *dlock_fault_point_name(dlock_fault_point point);
const char *dlock_fault_point_where(dlock_fault_point point);
int dlock_fault_point_find(const char *name);
const char *dlock_fault_action_name(dlock_fault_action action);
int dlock_fault_action_find(const char *name);

#endif /* DLOCK_FAULT_H */
