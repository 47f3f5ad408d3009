/* SPDX-License-Identifier: MIT */
/* condition.c -- waiting under a mutex.
 *
 * Condition variables cannot wait on CLOCK_BOOTTIME, so a wait is translated to
 * CLOCK_MONOTONIC for at most SLICE_MS.  After a suspend the wait ends late by SLICE_MS
 * at most. */
#include "base/os/condition.h"

#include <time.h>

#include "base/os/clock.h"
#include "base/os/condition_line.h"
#include "base/os/fiber.h"

enum { SLICE_MS = 1000 };

#define NS_PER_S INT64_C(1000000000)

bool dlock_condition_init(struct dlock_condition *condition)
{
    pthread_condattr_t attributes;
    bool done;

    condition->fibers = NULL;
    if (pthread_condattr_init(&attributes) != 0)
        return false;
    done = pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC) == 0 &&
           pthread_cond_init(&condition->os, &attributes) == 0;
    (void)pthread_condattr_destroy(&attributes);
    return done;
}

void dlock_condition_destroy(struct dlock_condition *condition)
{
    (void)pthread_cond_destroy(&condition->os);
}

void dlock_condition_signal(struct dlock_condition *condition)
{
    if (condition->fibers != NULL)
        dlock_condition_line_wake(&condition->fibers);
    (void)pthread_cond_signal(&condition->os);
}

void dlock_condition_broadcast(struct dlock_condition *condition)
{
    while (condition->fibers != NULL)
        dlock_condition_line_wake(&condition->fibers);
    (void)pthread_cond_broadcast(&condition->os);
}

void dlock_condition_wait(struct dlock_condition *condition, struct dlock_mutex *mutex)
{
    struct dlock_fiber *fiber = dlock_fiber_here();

    if (fiber != NULL)
        (void)dlock_condition_line_wait(&condition->fibers, mutex, INT64_MAX);
    else
        (void)pthread_cond_wait(&condition->os, &mutex->os);
}

bool dlock_condition_wait_until(struct dlock_condition *condition,
                                struct dlock_mutex *mutex, int64_t until_ns)
{
    struct dlock_fiber *fiber = dlock_fiber_here();
    int64_t left_ns = until_ns - dlock_clock_ns();
    struct timespec at;
    int64_t at_ns;

    if (left_ns <= 0)
        return false;
    if (fiber != NULL) {
        bool is_woken = dlock_condition_line_wait(&condition->fibers, mutex, until_ns);

        return (is_woken || !(fiber->is_hurried && fiber->may_hurry)) &&
               dlock_clock_ns() < until_ns;
    }
    if (left_ns > SLICE_MS * DLOCK_NS_PER_MS)
        left_ns = SLICE_MS * DLOCK_NS_PER_MS;
    (void)clock_gettime(CLOCK_MONOTONIC, &at);
    at_ns = (int64_t)at.tv_sec * NS_PER_S + at.tv_nsec + left_ns;
    at = (struct timespec){.tv_sec = (time_t)(at_ns / NS_PER_S), .tv_nsec = at_ns % NS_PER_S};
    (void)pthread_cond_timedwait(&condition->os, &mutex->os, &at);
    return dlock_clock_ns() < until_ns;
}
