/* SPDX-License-Identifier: MIT */
/* mutex.h -- mutual exclusion between the threads of a process.
 *
 * Only base/os/ reads the fields of the struct.  Its users must not move it.  The
 * functions are inline, because a lock that is granted inside the process locks several
 * mutexes.
 *
 * The C library fails here only after a mistake of the program, such as unlocking a
 * free mutex.  Such failures are not reported.
 *
 * Threads     Any; init and destroy only while no other thread uses the object. */
#ifndef DLOCK_MUTEX_H
#define DLOCK_MUTEX_H

#include <pthread.h>

struct dlock_mutex {
    pthread_mutex_t os;
};

/* A fiber that sleeps must hold no mutex (fiber.h).  The builds with a sanitizer count the
 * mutexes that each thread holds. */
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
extern _Thread_local int dlock_mutexes_held;
#define DLOCK_MUTEX_COUNT(by) (dlock_mutexes_held += (by))
#else
#define DLOCK_MUTEX_COUNT(by) ((void)0)
#endif

/* The number of mutexes that the calling thread holds; 0 in a build that does not count. */
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

#endif /* DLOCK_MUTEX_H */
