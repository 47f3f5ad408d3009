/* SPDX-License-Identifier: MIT */
/* thread.h -- the threads that a library starts for itself, and what is known of the
 * calling one. */
#ifndef DLOCK_THREAD_H
#define DLOCK_THREAD_H

#include <limits.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

struct dlock_thread {
    pthread_t os;
};

/* Start a thread that calls run(arg), with every signal blocked: signals are for the
 * program's own threads.  0, and the thread is to be joined; or an errno, and there is
 * none. */
int dlock_thread_start(struct dlock_thread *out, void *(*run)(void *arg), void *arg);

/* Wait until the thread has returned from `run`.  To be called once for each start. */
void dlock_thread_join(struct dlock_thread *thread);

/* Let others run first; a fiber: all of its loop that are ready. */
void dlock_thread_yield(void);

/* The kernel's number of the calling thread; a system call. */
uint32_t dlock_thread_id(void);

/* A value that each thread has of its own, and that is handed to a function when the
 * thread ends. */
struct dlock_thread_value {
    pthread_key_t os;
};

/* The number of calls of `at_end` for a thread that sets the value again each time. */
enum { DLOCK_THREAD_END_CALLS = PTHREAD_DESTRUCTOR_ITERATIONS };

/* Begin with NULL in every thread.  `at_end` gets what the ending thread had set, unless
 * that is NULL, after which the thread has NULL.  False: the system has no room for one. */
bool dlock_thread_value_make(struct dlock_thread_value *out, void (*at_end)(void *value));

/* The calling thread's.  Setting: false, no memory, and nothing changed. */
void *dlock_thread_value_get(struct dlock_thread_value value);
bool dlock_thread_value_set(struct dlock_thread_value value, void *to);

#endif /* DLOCK_THREAD_H */
