/* SPDX-License-Identifier: MIT */
/* fiber.h -- fibers: does the calling code run in a thread alone, or in a fiber?
 *
 * A fiber is a function with a stack of its own.  Fibers of one loop (loop.h) take turns in
 * one thread: a fiber runs until it sleeps by a function of base/os/ (bell.h,
 * condition.h, clock.h, event.h, thread.h), and then another fiber runs.  So code that
 * sleeps only by these functions runs unchanged in a thread and in a fiber.
 *
 * Two rules follow.  A fiber that sleeps holds no mutex, except the mutex that a
 * condition unlocks for it.  All fibers of a thread share its thread-local variables,
 * so data that each caller needs for itself is in `local` instead.
 *
 * Threads     A fiber never changes its thread. */
#ifndef DLOCK_FIBER_H
#define DLOCK_FIBER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct dlock_fiber;
struct pollfd;

/* The services of a loop for its fibers.  The fiber itself calls all of them but wake. */
struct dlock_fiber_host {
    /* Sleep until woken (true), or until `until_ns` or a hurry (false). */
    bool (*sleep)(struct dlock_fiber *fiber, int64_t until_ns);
    /* End its sleep, or its next one.  Once for each sleep; any thread. */
    void (*wake)(struct dlock_fiber *fiber);
    /* Let all other ready fibers run first. */
    void (*yield)(struct dlock_fiber *fiber);
    /* As dlock_poll_until(). */
    int (*poll)(struct dlock_fiber *fiber, struct pollfd *polled, size_t count,
                int64_t until_ns);
    /* As dlock_poll_forget(). */
    void (*forget)(struct dlock_fiber *fiber, int fd);
};

enum { DLOCK_FIBER_TALLIES = 7 };

struct dlock_fiber {
    const struct dlock_fiber_host *host;
    void *local;     /* data of the code that started the fiber                 */
    uint64_t tallies[DLOCK_FIBER_TALLIES]; /* the fiber's counters, in place of
                                            * thread-local ones */
    bool is_hurried; /* it has to end soon: see below                           */
    bool may_hurry;
    bool is_inner;   /* of a loop that the library runs for itself, and not for the
                      * program                                                 */
};

extern _Thread_local struct dlock_fiber *dlock_fiber_current;

/* The running fiber; NULL: the calling thread runs no fiber. */
static inline struct dlock_fiber *dlock_fiber_here(void)
{
    return dlock_fiber_current;
}

/* Allow (true) or forbid (false) that a hurry ends the sleeps of the running fiber.
 * dlock_job_hurry() hurries a fiber: an allowed sleep then ends at once, as if its time
 * had come.  A forbidden sleep goes on, because the answer to a request that was sent
 * has to be read. */
static inline void dlock_fiber_let_hurry(bool may)
{
    if (dlock_fiber_current != NULL)
        dlock_fiber_current->may_hurry = may;
}

/* Is the caller a fiber that was hurried? */
static inline bool dlock_fiber_is_hurried(void)
{
    return dlock_fiber_current != NULL && dlock_fiber_current->is_hurried;
}

#endif /* DLOCK_FIBER_H */
