/* SPDX-License-Identifier: MIT */
/* thread.h -- the threads that the library starts for itself, and values of the calling
 * thread. */
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
 * program's own threads.  0: the caller has to join the thread.  Otherwise an errno,
 * and no thread was started. */
int dlock_thread_start(struct dlock_thread *out, void *(*run)(void *arg), void *arg);

/* Wait until the thread has returned from `run`.  Call it once for each start. */
void dlock_thread_join(struct dlock_thread *thread);

/* Let other threads run first; in a fiber: all ready fibers of its loop. */
void dlock_thread_yield(void);

/* The kernel's number of the calling thread; a system call. */
uint32_t dlock_thread_id(void);

/* First in each public call that may wait or take a mutex: a pthread_cancel() of the calling
 * thread takes effect only after the call.  A thread that ended inside would take along what other
 * threads wait for: a mutex, or the role of the driver of a connection. */
static inline int dlock_thread_put_off_cancel(void)
{
    int state = PTHREAD_CANCEL_ENABLE;

    (void)pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &state);
    return state;
}

static inline void dlock_thread_allow_cancel(const int *state)
{
    (void)pthread_setcancelstate(*state, NULL);
}

#define DLOCK_PUT_OFF_CANCEL                                                           \
    __attribute__((cleanup(dlock_thread_allow_cancel), unused)) const int              \
        put_off_cancel = dlock_thread_put_off_cancel()

/* A value of which each thread has its own, and that a function gets when the thread
 * ends. */
struct dlock_thread_value {
    pthread_key_t os;
};

/* If `at_end` sets the value again, it is called again, up to so many times. */
enum { DLOCK_THREAD_END_CALLS = PTHREAD_DESTRUCTOR_ITERATIONS };

/* Make a value, which is NULL in every thread.  When a thread ends, its value is set to
 * NULL, and `at_end` gets the old value if that was not NULL. False: the system has no
 * more such values. */
bool dlock_thread_value_make(struct dlock_thread_value *out, void (*at_end)(void *value));

/* Read and set the calling thread's value.  False: no memory, and the value is not
 * changed. */
void *dlock_thread_value_get(struct dlock_thread_value value);
bool dlock_thread_value_set(struct dlock_thread_value value, void *to);

#endif /* DLOCK_THREAD_H */
