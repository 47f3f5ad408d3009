/* SPDX-License-Identifier: MIT */
/* condition_line.h -- the fibers that wait for a condition, in the order of their arrival.
 *
 * condition.c uses the list.  The conditions of simulated processes use it too
 * (tests/simulation/os_threads.c); their threads wait in another way.
 *
 * Threads     Any thread that holds the mutex of the condition. */
#ifndef DLOCK_CONDITION_LINE_H
#define DLOCK_CONDITION_LINE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/os/mutex.h"

struct dlock_condition_sleeper;

/* Wake the fiber that has waited longest, and remove it from the list.  The list must
 * not be empty. */
void dlock_condition_line_wake(struct dlock_condition_sleeper **line);

/* In a fiber: add the fiber to the end of the list, unlock the mutex, wait at most
 * until `until_ns` (clock.h), and lock the mutex again.  True: the fiber was woken.
 * False: the instant has come or the fiber was hurried, and the fiber has left the
 * list. */
bool dlock_condition_line_wait(struct dlock_condition_sleeper **line, struct dlock_mutex *mutex,
                               int64_t until_ns);

#endif /* DLOCK_CONDITION_LINE_H */
