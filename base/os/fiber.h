/* SPDX-License-Identifier: MIT */
/* fiber.h -- what runs here: a thread, or one of the many fibers of a loop.
 *
 * A fiber is a function with a stack of its own.  Fibers of one loop (loop.h) take turns in
 * one thread: a fiber runs until it sleeps in this room (bell.h, condition.h, clock.h, event.h,
 * thread.h), and then another goes on.  So code that knows only this room runs unchanged in
 * a thread and in a fiber.
 *
 * Two rules follow.  A fiber holds no mutex while it sleeps, but the one that a condition
 * lets go of.  And what is thread-local belongs to all fibers of the thread: what has to be
 * each caller's own is in `local` instead.
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
    /* Sleep until woken, which is true, or until `until_ns` or a hurry, false. */
    bool (*sleep)(struct dlock_fiber *fiber, int64_t until_ns);
    /* End its sleep, or its next one.  Once for each sleep; any thread. */
    void (*wake)(struct dlock_fiber *fiber);
    /* Let all that are ready run first. */
    void (*yield)(struct dlock_fiber *fiber);
    /* As dlock_poll_until(). */
    int (*poll)(struct dlock_fiber *fiber, struct pollfd *polled, size_t count,
                int64_t until_ns);
    /* The descriptor is about to be closed. */
    void (*forget)(struct dlock_fiber *fiber, int fd);
};

enum { DLOCK_FIBER_TALLIES = 7 };

struct dlock_fiber {
    const struct dlock_fiber_host *host;
    void *local;     /* the caller's own things, for who started it             */
    uint64_t tallies[DLOCK_FIBER_TALLIES]; /* counts that are the fiber's, for who counts by thread */
    bool is_hurried; /* it is to come to its end: see below                     */
    bool may_hurry;
};

extern _Thread_local struct dlock_fiber *dlock_fiber_current;

/* The running fiber; NULL: a thread runs by itself. */
static inline struct dlock_fiber *dlock_fiber_here(void)
{
    return dlock_fiber_current;
}

/* A hurry, which dlock_job_hurry() gives, ends at once the sleeps of a fiber that are
 * between these two with true and with false, as if their time were over.  All other sleeps
 * go on: what was sent to a server has to be answered. */
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
