/* SPDX-License-Identifier: MIT */
/* mutex.c -- waiting under a mutex.
 *
 * Condition variables cannot wait on CLOCK_BOOTTIME, so a wait is translated to
 * CLOCK_MONOTONIC for at most SLICE_MS: after a suspend it is late by no more. */
#include "base/os/mutex.h"

#include <time.h>

#include "base/os/clock.h"
#include "base/os/fiber.h"

enum { SLICE_MS = 1000 };

#define NS_PER_S INT64_C(1000000000)

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
_Thread_local int dlock_mutexes_held;
#endif

int dlock_mutex_count_held(void)
{
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
    return dlock_mutexes_held;
#else
    return 0;
#endif
}

/* ---- fibers ---- */

/* A fiber that waits, the first to come first. */
struct dlock_condition_sleeper {
    struct dlock_fiber *fiber;
    struct dlock_condition_sleeper *next;
    bool is_woken; /* it is not in the list any more */
};

/* With the mutex held, as in all that follows. */
static void wake_first(struct dlock_condition *condition)
{
    struct dlock_condition_sleeper *first = condition->fibers;

    condition->fibers = first->next;
    first->is_woken = true;
    first->fiber->host->wake(first->fiber);
}

static void take_out(struct dlock_condition *condition,
                     const struct dlock_condition_sleeper *sleeper)
{
    struct dlock_condition_sleeper **at = &condition->fibers;

    while (*at != sleeper)
        at = &(*at)->next;
    *at = sleeper->next;
}

/* False: it was not woken. */
static bool wait_in_fiber(struct dlock_condition *condition, struct dlock_mutex *mutex,
                          struct dlock_fiber *fiber, int64_t until_ns)
{
    struct dlock_condition_sleeper sleeper = {.fiber = fiber};
    struct dlock_condition_sleeper **end = &condition->fibers;
    bool has_noticed;

    while (*end != NULL)
        end = &(*end)->next;
    *end = &sleeper;
    dlock_mutex_unlock(mutex);
    has_noticed = fiber->host->sleep(fiber, until_ns);
    dlock_mutex_lock(mutex);
    if (!sleeper.is_woken) {
        take_out(condition, &sleeper);
        return false;
    }
    if (!has_noticed) { /* the wake is on its way, and must not end a later sleep */
        dlock_mutex_unlock(mutex);
        dlock_fiber_let_hurry(false);
        (void)fiber->host->sleep(fiber, INT64_MAX);
        dlock_mutex_lock(mutex);
    }
    return true;
}

/* ---- conditions ---- */

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
        wake_first(condition);
    (void)pthread_cond_signal(&condition->os);
}

void dlock_condition_broadcast(struct dlock_condition *condition)
{
    while (condition->fibers != NULL)
        wake_first(condition);
    (void)pthread_cond_broadcast(&condition->os);
}

void dlock_condition_wait(struct dlock_condition *condition, struct dlock_mutex *mutex)
{
    struct dlock_fiber *fiber = dlock_fiber_here();

    if (fiber != NULL)
        (void)wait_in_fiber(condition, mutex, fiber, INT64_MAX);
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
        bool is_woken = wait_in_fiber(condition, mutex, fiber, until_ns);

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
