/* SPDX-License-Identifier: MIT */
/* thread.c -- threads and thread-specific values, by the C library. */
#include "base/os/thread.h"

#include <sched.h>
#include <signal.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/os/fiber.h"

int dlock_thread_start(struct dlock_thread *out, void *(*run)(void *arg), void *arg)
{
    sigset_t all;
    sigset_t before;
    int rc;

    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    rc = pthread_create(&out->os, NULL, run, arg);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return rc;
}

void dlock_thread_join(struct dlock_thread *thread)
{
    (void)pthread_join(thread->os, NULL);
}

void dlock_thread_yield(void)
{
    struct dlock_fiber *fiber = dlock_fiber_here();

    if (fiber != NULL)
        fiber->host->yield(fiber);
    else
        (void)sched_yield();
}

uint32_t dlock_thread_id(void)
{
    return (uint32_t)syscall(SYS_gettid);
}

bool dlock_thread_value_make(struct dlock_thread_value *out, void (*at_end)(void *value))
{
    return pthread_key_create(&out->os, at_end) == 0;
}

void *dlock_thread_value_get(struct dlock_thread_value value)
{
    return pthread_getspecific(value.os);
}

bool dlock_thread_value_set(struct dlock_thread_value value, void *to)
{
    return pthread_setspecific(value.os, to) == 0;
}
