/* SPDX-License-Identifier: MIT */
/* worker_pool.c -- limits the requests that are worked on at once. */
#include "app/worker_pool.h"

#include <stdlib.h>

#include "base/os/clock.h"
#include "base/os/condition.h"

/* A request that waits; it lies on its thread's stack. */
struct waiter {
    struct dlock_condition given;
    struct worker *worker; /* the worker it was given; NULL: none yet */
    struct waiter *next;
};

struct worker_pool {
    struct service *service;
    struct dlock_mutex mutex;
    int64_t total;
    int64_t in_use;
    int64_t waiting;
    uint64_t timed_out;
    struct waiter *first; /* the first waiting request; NULL: none */
    struct waiter **last; /* where the next waiter is appended */
    int64_t idle_count;
    struct worker *idle[]; /* the worker used last on top, because its memory is in the
                            * caches */
};

struct worker_pool *worker_pool_new(struct service *service, int64_t count)
{
    struct worker_pool *s = calloc(1, sizeof(*s) + (size_t)count * sizeof(s->idle[0]));

    if (s == NULL)
        return NULL;
    dlock_mutex_init(&s->mutex);
    s->service = service;
    s->total = count;
    s->last = &s->first;
    return s;
}

void worker_pool_free(struct worker_pool *s)
{
    if (s == NULL)
        return;
    while (s->idle_count > 0)
        worker_free(s->idle[--s->idle_count]);
    dlock_mutex_destroy(&s->mutex);
    free(s);
}

static void leave_queue(struct worker_pool *s, struct waiter *me)
{
    struct waiter **at = &s->first;

    while (*at != me)
        at = &(*at)->next;
    *at = me->next;
    if (s->last == &me->next)
        s->last = at;
    s->waiting--;
}

/* `me` must be out of the queue before its function returns: worker_pool_give() takes it out, or
 * leave_queue() does. */
static void enter_queue(struct worker_pool *s, struct waiter *me)
{
    *s->last = me;
    s->last = &me->next;
    s->waiting++;
}

/* Wait for a worker that is given back.  The caller holds the mutex. */
static struct worker *wait_for_one(struct worker_pool *s, int64_t wait_ms)
{
    struct waiter me = {.worker = NULL};
    int64_t deadline_ns = dlock_clock_after(dlock_clock_ns(), wait_ms);

    if (!dlock_condition_init(&me.given))
        return NULL; /* no memory for the wait; the caller answers as after a timeout */
    enter_queue(s, &me);
    while (me.worker == NULL &&
           dlock_condition_wait_until(&me.given, &s->mutex, deadline_ns))
        ; /* the wait may end early */
    if (me.worker == NULL) {
        leave_queue(s, &me);
        s->timed_out++;
    }
    dlock_condition_destroy(&me.given);
    return me.worker;
}

struct worker *worker_pool_take(struct worker_pool *s, int64_t wait_ms)
{
    struct worker *w = NULL;
    bool is_new = false;

    dlock_mutex_lock(&s->mutex);
    if (s->in_use < s->total) {
        s->in_use++;
        is_new = s->idle_count == 0;
        w = is_new ? NULL : s->idle[--s->idle_count];
    } else {
        w = wait_for_one(s, wait_ms);
    }
    dlock_mutex_unlock(&s->mutex);
    if (!is_new)
        return w;
    w = worker_new(s->service);
    if (w == NULL) {
        dlock_mutex_lock(&s->mutex);
        s->in_use--;
        dlock_mutex_unlock(&s->mutex);
    }
    return w;
}

void worker_pool_give(struct worker_pool *s, struct worker *w)
{
    struct waiter *next = NULL;

    if (w == NULL)
        return;
    dlock_mutex_lock(&s->mutex);
    next = s->first;
    if (next != NULL) {
        leave_queue(s, next);
        next->worker = w;
        dlock_condition_signal(&next->given);
    } else {
        s->idle[s->idle_count++] = w;
        s->in_use--;
    }
    dlock_mutex_unlock(&s->mutex);
}

void worker_pool_read_stats(struct worker_pool *s, struct worker_pool_stats *out)
{
    dlock_mutex_lock(&s->mutex);
    *out = (struct worker_pool_stats){
        .total = s->total,
        .in_use = s->in_use,
        .waiting = s->waiting,
        .timed_out = s->timed_out,
    };
    dlock_mutex_unlock(&s->mutex);
}
