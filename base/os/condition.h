/* SPDX-License-Identifier: MIT */
/* condition.h -- waiting under a mutex, in a thread or in a fiber.
 *
 * Only base/os/ reads the fields of the struct.  Its users must not move it.
 *
 * Threads     Any; init and destroy only while no other thread uses the object. */
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

/* For a condition with static storage that is never waited for with a time limit. */
#define DLOCK_CONDITION_INITIALIZER {.os = PTHREAD_COND_INITIALIZER}

/* Initialise a condition.  False: no memory, and there is nothing to destroy. */
bool dlock_condition_init(struct dlock_condition *condition);
void dlock_condition_destroy(struct dlock_condition *condition);

/* Wake one waiter, or all.  The caller holds the mutex.  If both threads and fibers
 * wait, signal wakes one thread and one fiber, so a waiter has to check its condition
 * again. */
void dlock_condition_signal(struct dlock_condition *condition);
void dlock_condition_broadcast(struct dlock_condition *condition);

/* Unlock the mutex, wait, and lock the mutex again.  The wait may end without a signal,
 * so the caller checks its condition again. */
void dlock_condition_wait(struct dlock_condition *condition, struct dlock_mutex *mutex);

/* The same, at most until `until_ns` (clock.h).  False: that instant has come, or the
 * fiber was hurried. */
bool dlock_condition_wait_until(struct dlock_condition *condition,
                                struct dlock_mutex *mutex, int64_t until_ns);

#endif /* DLOCK_CONDITION_H */
