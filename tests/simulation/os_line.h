/* SPDX-License-Identifier: MIT */
/* os_line.h -- the fibers that wait for a condition, the first to come first.
 *
 * As in base/os/mutex.c, in whose place os_threads.c stands.  Both with the mutex of
 * the condition held. */
#ifndef SIMULATION_OS_LINE_H
#define SIMULATION_OS_LINE_H

#include "base/os/mutex.h"

/* Wake the first; there is one. */
void os_line_wake(struct dlock_condition *condition);

/* In a fiber: wait with the mutex free, at the latest until `until_ns`.  False: it was not
 * woken, since the time is over or it was hurried. */
bool os_line_wait(struct dlock_condition *condition, struct dlock_mutex *mutex,
                  int64_t until_ns);

#endif /* SIMULATION_OS_LINE_H */
