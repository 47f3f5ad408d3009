/* SPDX-License-Identifier: MIT */
/* condition_line.h -- the fibers that wait for a condition, in the order of their arrival.
 *
 * condition.c uses the list, and so do the conditions of simulated processes
 * (tests/simulation/os_threads.c), whose threads wait in another way.
 *
 * Threads     Any that holds the mutex of the condition. */
#ifndef DLOCK_CONDITION_LINE_H
#define DLOCK_CONDITION_LINE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/os/mutex.h"

struct dlock_condition_sleeper;

/* Wake the fiber that waits longest, and take it out of the list, which must not be empty. */
void dlock_condition_line_wake(struct dlock_condition_sleeper **line);

/* In a fiber: wait at the end of the list with the mutex free, at the latest until `until_ns`
 * (clock.h), and hold the mutex again afterwards.  True: the fiber was woken.  False: the time
 * is over or the fiber was hurried, and the fiber has left the list. */
bool dlock_condition_line_wait(struct dlock_condition_sleeper **line, struct dlock_mutex *mutex,
                               int64_t until_ns);

#endif /* DLOCK_CONDITION_LINE_H */
