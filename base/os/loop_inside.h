/* SPDX-License-Identifier: MIT */
/* loop_inside.h -- the structs of a loop and its fibers.
 *
 * Only for loop.c, job.c, loop_due.c and loop_watch.c.  Everything belongs to the
 * loop's thread, except the fields under the mutex. */
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
    bool is_woken; /* its sleep has not returned yet */
    bool is_over;  /* its job */
    int64_t due_ns; /* the end of its sleep; INT64_MAX: none */
    size_t place;   /* its place in the heap `due`, from 1; 0: not in it */
    int64_t placed_ns; /* the key of its place in the heap; at most due_ns */
    struct pollfd *polled; /* the descriptors that it waits for */
    size_t polled_count;
    int found; /* how many of them are ready */
};

/* The loop's state for one descriptor. */
struct dlock_loop_watch {
    struct dlock_loop_fiber *fiber; /* the fiber that waits for it; NULL: none */
    short armed;                    /* events that the kernel reports, once */
    bool is_known;                  /* it is in the epoll set */
};

struct dlock_loop {
    int epoll_fd, event_fd, timer_fd;
    struct dlock_stack *own; /* the thread's */
    struct dlock_loop_fiber *ready, *last_ready;
    struct dlock_loop_fiber *idle;
    size_t fiber_count, idle_count;
    struct dlock_loop_fiber **due; /* a heap by placed_ns; has room for every fiber */
    size_t due_count, due_room;
    int64_t timer_ns; /* the instant that the timer is set to; INT64_MAX: not set */
    struct dlock_loop_watch *watches; /* by descriptor */
    size_t watch_room;
    struct dlock_mutex mutex; /* of what follows */
    bool is_awake;            /* the loop will check the lists below without the
                               * event                                       */
    bool is_raised;           /* the event                                   */
    struct dlock_loop_fiber *told, *last_told;
    struct dlock_post *posts, *last_post;
};

/* Append the fiber to the ready ones, if it sleeps. */
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

/* Wake the loop's thread, because the lists under the mutex have changed.  The caller
 * holds the mutex. */
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

/* Run the fiber until it sleeps or its job ends; in the second case call the job's
 * `ended`. */
void dlock_loop_run(struct dlock_loop *loop, struct dlock_loop_fiber *fiber);

/* Wake a fiber, from the loop's own thread. */
void dlock_loop_wake_here(struct dlock_loop_fiber *fiber);

/* Free the fiber, which is idle and in no list. */
void dlock_loop_free_fiber(struct dlock_loop_fiber *fiber);

/* ---- loop_due.c: when sleeps end ---- */

/* Make room for one more fiber in the heap.  False: no memory. */
bool dlock_loop_due_make_room(struct dlock_loop *loop);

/* Set the end of the fiber's sleep to `at_ns`. */
void dlock_loop_due_at(struct dlock_loop_fiber *fiber, int64_t at_ns);

/* Remove the fiber from the heap, before it is freed. */
void dlock_loop_due_forget(struct dlock_loop_fiber *fiber);

/* A lower bound for the end of the next sleep; INT64_MAX: no sleep has an end. */
int64_t dlock_loop_due_next_ns(const struct dlock_loop *loop);

/* Make every fiber ready whose sleep ends by `now_ns`. */
void dlock_loop_due_end(struct dlock_loop *loop, int64_t now_ns);

/* ---- loop_watch.c: descriptors ---- */

/* Begin to watch the descriptors of the running fiber; each is reported once.  False: a
 * descriptor is already known to be broken, and its revents say so. */
bool dlock_loop_watch_begin(struct dlock_loop_fiber *fiber);
void dlock_loop_watch_end(struct dlock_loop_fiber *fiber);

/* The kernel has reported `events` for a descriptor: make its fiber ready. */
void dlock_loop_watch_tell(struct dlock_loop *loop, int fd, short events);

/* Forget a descriptor, before it is closed. */
void dlock_loop_watch_forget(struct dlock_loop *loop, int fd);

#endif /* DLOCK_LOOP_INSIDE_H */
