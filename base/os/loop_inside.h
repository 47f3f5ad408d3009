/* SPDX-License-Identifier: MIT */
/* loop_inside.h -- a loop and its fibers, for those who run them, time them and watch
 * descriptors for them.
 *
 * Only for loop.c, job.c, loop_due.c and loop_watch.c.  All of it is the loop's thread's, but for
 * what is said to be under the mutex. */
#ifndef DLOCK_LOOP_INSIDE_H
#define DLOCK_LOOP_INSIDE_H

#include <poll.h>

#include "base/os/event.h"
#include "base/os/fiber.h"
#include "base/os/mutex.h"

struct dlock_job;
struct dlock_post;
struct dlock_stack;

struct dlock_loop_fiber {
    struct dlock_fiber fiber; /* the first */
    struct dlock_loop *loop;
    struct dlock_stack *stack;
    struct dlock_job *job;
    struct dlock_loop_fiber *next;      /* ready, or idle                          */
    struct dlock_loop_fiber *next_told; /* woken by another thread; under the mutex */
    bool is_asleep;
    bool is_woken; /* and has not noticed yet */
    bool is_over;  /* its job */
    int64_t due_ns; /* its sleep ends then; INT64_MAX: not by itself */
    size_t place;   /* among the due, from 1; 0: it is not there      */
    int64_t placed_ns; /* what its place goes by: no later than due_ns */
    struct pollfd *polled; /* it waits for these */
    size_t polled_count;
    int found; /* so many of them have something */
};

/* A descriptor, as the loop knows it. */
struct dlock_loop_watch {
    struct dlock_loop_fiber *fiber; /* waits for it; NULL: nobody */
    short armed;                    /* the kernel tells of these, once */
    bool is_known;                  /* to the kernel */
};

struct dlock_loop {
    int epoll_fd, event_fd, timer_fd;
    struct dlock_stack *own; /* the thread's */
    struct dlock_loop_fiber *running;
    struct dlock_loop_fiber *ready, *last_ready;
    struct dlock_loop_fiber *idle;
    size_t fiber_count, idle_count;
    struct dlock_loop_fiber **due; /* a heap by placed_ns; has room for every fiber */
    size_t due_count, due_room;
    int64_t timer_ns; /* the timer is set to it; INT64_MAX: it is not */
    struct dlock_loop_watch *watches; /* by descriptor */
    size_t watch_room;
    struct dlock_mutex mutex; /* of what follows */
    bool is_awake;            /* it will look at the news without being told */
    bool is_raised;           /* the event                                   */
    struct dlock_loop_fiber *told, *last_told;
    struct dlock_post *posts, *last_post;
};

/* Let it go on, after those that are ready. */
static inline void dlock_loop_make_ready(struct dlock_loop_fiber *fiber)
{
    struct dlock_loop *loop = fiber->loop;

    if (!fiber->is_asleep)
        return;
    fiber->is_asleep = false;
    fiber->next = NULL;
    if (loop->ready == NULL)
        loop->ready = fiber;
    else
        loop->last_ready->next = fiber;
    loop->last_ready = fiber;
}

/* With the mutex held: there are news. */
static inline void dlock_loop_tell(struct dlock_loop *loop)
{
    if (loop->is_awake || loop->is_raised)
        return;
    loop->is_raised = true;
    dlock_event_raise(loop->event_fd, 1);
}

/* ---- job.c: fibers ---- */

/* The loop whose turn the calling thread runs; NULL: none. */
extern _Thread_local struct dlock_loop *dlock_loop_here;

/* Let it run until it sleeps; if its job is over then, end that. */
void dlock_loop_run(struct dlock_loop *loop, struct dlock_loop_fiber *fiber);

/* Wake it from the loop's own thread. */
void dlock_loop_wake_here(struct dlock_loop_fiber *fiber);

/* Free the fiber, which is idle and in no list. */
void dlock_loop_free_fiber(struct dlock_loop_fiber *fiber);

/* ---- loop_due.c: when sleeps end ---- */

/* Room for one fiber more.  False: no memory. */
bool dlock_loop_due_make_room(struct dlock_loop *loop);

/* Its sleep ends at `at_ns`. */
void dlock_loop_due_at(struct dlock_loop_fiber *fiber, int64_t at_ns);

/* Forget its sleep, since the fiber is to be freed. */
void dlock_loop_due_forget(struct dlock_loop_fiber *fiber);

/* No sleep ends earlier; INT64_MAX: none ends by itself. */
int64_t dlock_loop_due_next_ns(const struct dlock_loop *loop);

/* Make ready whose sleep is over by `now_ns`. */
void dlock_loop_due_end(struct dlock_loop *loop, int64_t now_ns);

/* ---- loop_watch.c: descriptors ---- */

/* Tell the running fiber, once, of its descriptors.  False: of one it is known already that
 * it is broken, which is in its revents. */
bool dlock_loop_watch_begin(struct dlock_loop_fiber *fiber);
void dlock_loop_watch_end(struct dlock_loop_fiber *fiber);

/* The kernel tells of a descriptor. */
void dlock_loop_watch_tell(struct dlock_loop *loop, int fd, short events);

/* The descriptor is about to be closed. */
void dlock_loop_watch_forget(struct dlock_loop *loop, int fd);

#endif /* DLOCK_LOOP_INSIDE_H */
