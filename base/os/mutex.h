/* SPDX-License-Identifier: MIT */
/* mutex.h -- mutual exclusion between the threads of a process, and waiting under it.
 *
 * The two structs are this room's: others hold them in place and do not look inside.  The
 * mutex is inline, since a lock that is granted inside the process takes several.
 *
 * Errors of the C library here are errors of the program (an unlock of what is not held),
 * and are not answered.
 *
 * Threads     Any, but for init and destroy: one, while no other uses the object. */
#ifndef DLOCK_MUTEX_H
#define DLOCK_MUTEX_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

struct dlock_mutex {
    pthread_mutex_t os;
};

/* A fiber that sleeps must hold none (fiber.h).  The builds with a sanitizer count them. */
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
extern _Thread_local int dlock_mutexes_held;
#define DLOCK_MUTEX_COUNT(by) (dlock_mutexes_held += (by))
#else
#define DLOCK_MUTEX_COUNT(by) ((void)0)
#endif

/* How many the calling thread holds, where they are counted; otherwise 0. */
int dlock_mutex_count_held(void);

/* For a mutex with static storage; needs no init and no destroy. */
#define DLOCK_MUTEX_INITIALIZER {.os = PTHREAD_MUTEX_INITIALIZER}

static inline void dlock_mutex_init(struct dlock_mutex *mutex)
{
    (void)pthread_mutex_init(&mutex->os, NULL);
}

static inline void dlock_mutex_destroy(struct dlock_mutex *mutex)
{
    (void)pthread_mutex_destroy(&mutex->os);
}

static inline void dlock_mutex_lock(struct dlock_mutex *mutex)
{
    (void)pthread_mutex_lock(&mutex->os);
    DLOCK_MUTEX_COUNT(1);
}

static inline void dlock_mutex_unlock(struct dlock_mutex *mutex)
{
    DLOCK_MUTEX_COUNT(-1);
    (void)pthread_mutex_unlock(&mutex->os);
}

struct dlock_condition_sleeper;

/* A condition that threads and fibers wait for under a mutex. */
struct dlock_condition {
    pthread_cond_t os;
    struct dlock_condition_sleeper *fibers; /* mutex.c's; under that mutex */
};

/* For a condition with static storage that nobody waits for with a limit of time. */
#define DLOCK_CONDITION_INITIALIZER {.os = PTHREAD_COND_INITIALIZER}

/* False: the system has no room for one, and nothing is to be destroyed. */
bool dlock_condition_init(struct dlock_condition *condition);
void dlock_condition_destroy(struct dlock_condition *condition);

/* Wake one of those who wait, or all; with the mutex held.  Where threads and fibers wait,
 * one of each is woken: the other looks in vain. */
void dlock_condition_signal(struct dlock_condition *condition);
void dlock_condition_broadcast(struct dlock_condition *condition);

/* Wait with the mutex free, and hold the mutex again afterwards.  The wait may end without
 * a signal: the caller looks again. */
void dlock_condition_wait(struct dlock_condition *condition, struct dlock_mutex *mutex);

/* The same, at the latest until `until_ns` (clock.h).  False: that time is over, or the fiber
 * was hurried. */
bool dlock_condition_wait_until(struct dlock_condition *condition,
                                struct dlock_mutex *mutex, int64_t until_ns);

#endif /* DLOCK_MUTEX_H */
