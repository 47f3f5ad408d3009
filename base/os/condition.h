/* SPDX-License-Identifier: MIT */
/* condition.h -- waiting under a mutex, in a thread or in a fiber.
 *
 * Only base/os/ looks inside the struct; its users hold it in place.
 *
 * Threads     Any, but for init and destroy: one, while no other uses the object. */
#ifndef DLOCK_CONDITION_H
#define DLOCK_CONDITION_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/os/mutex.h"

struct dlock_condition_sleeper;

/* A condition that threads and fibers wait for under a mutex. */
struct dlock_condition {
    pthread_cond_t os;
    struct dlock_condition_sleeper *fibers; /* condition_line.h's; under that mutex */
};

/* For a condition with static storage that nobody waits for with a limit of time. */
#define DLOCK_CONDITION_INITIALIZER {.os = PTHREAD_COND_INITIALIZER}

/* False: the system has no memory for a condition, and there is nothing to destroy. */
bool dlock_condition_init(struct dlock_condition *condition);
void dlock_condition_destroy(struct dlock_condition *condition);

/* Wake one waiter, or all, with the mutex held.  If both threads and fibers wait, signal wakes
 * one of each, and the second to look finds nothing. */
void dlock_condition_signal(struct dlock_condition *condition);
void dlock_condition_broadcast(struct dlock_condition *condition);

/* Wait with the mutex free, and hold the mutex again afterwards.  The wait may end without
 * a signal: the caller looks again. */
void dlock_condition_wait(struct dlock_condition *condition, struct dlock_mutex *mutex);

/* The same, at the latest until `until_ns` (clock.h).  False: that time is over, or the fiber
 * was hurried. */
bool dlock_condition_wait_until(struct dlock_condition *condition,
                                struct dlock_mutex *mutex, int64_t until_ns);

#endif /* DLOCK_CONDITION_H */
