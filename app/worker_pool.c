/* SPDX-License-Identifier: MIT */
/* worker_pool.c -- limits the requests that are worked on at once. */
#include "app/worker_pool.h"

#include <stdlib.h>

#include "base/os/clock.h"
#include "base/os/condition.h"

/* A request that waits; it lies on its thread's stack. */
struct waiter {
    struct dlock_condition given;
    bool has_place;
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
    struct worker *idle; /* the worker used last is the first, because its memory is in the
                          * caches */
};

struct worker_pool *worker_pool_new(struct service *service, int64_t count)
{
    struct worker_pool *s = calloc(1, sizeof(*s));

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
    while (s->idle != NULL) {
        struct worker *w = s->idle;

        s->idle = w->next_idle;
        worker_free(w);
    }
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

/* `me` must be out of the queue before its function returns: pass_on() takes it out, or
 * leave_queue() does. */
static void enter_queue(struct worker_pool *s, struct waiter *me)
{
    *s->last = me;
    s->last = &me->next;
    s->waiting++;
}

/* Wait for a place.  The caller holds the mutex. */
static bool wait_for_place(struct worker_pool *s, int64_t wait_ms)
{
    struct waiter me = {.has_place = false};
    int64_t deadline_ns = dlock_clock_after(dlock_clock_ns(), wait_ms);

    if (!dlock_condition_init(&me.given))
        return false; /* no memory for the wait; the caller answers as after a timeout */
    enter_queue(s, &me);
    while (!me.has_place && dlock_condition_wait_until(&me.given, &s->mutex, deadline_ns))
        ; /* the wait may end early */
    if (!me.has_place) {
        leave_queue(s, &me);
        s->timed_out++;
    }
    dlock_condition_destroy(&me.given);
    return me.has_place;
}

/* Let the next request have a place that is not needed any more.  The caller holds the mutex. */
static void pass_on(struct worker_pool *s)
{
    struct waiter *next = s->in_use <= s->total ? s->first : NULL;

    if (next == NULL) {
        s->in_use--;
        return;
    }
    leave_queue(s, next);
    next->has_place = true;
    dlock_condition_signal(&next->given);
}

struct worker *worker_pool_take(struct worker_pool *s, int64_t wait_ms)
{
    struct worker *w = NULL;
    bool has_place = true;

    dlock_mutex_lock(&s->mutex);
    if (s->in_use < s->total)
        s->in_use++;
    else
        has_place = wait_for_place(s, wait_ms);
    if (has_place && s->idle != NULL) {
        w = s->idle;
        s->idle = w->next_idle;
    }
    dlock_mutex_unlock(&s->mutex);
    if (w != NULL || !has_place)
        return w;
    w = worker_new(s->service);
    if (w == NULL) {
        dlock_mutex_lock(&s->mutex);
        pass_on(s);
        dlock_mutex_unlock(&s->mutex);
    }
    return w;
}

void worker_pool_rest(struct worker_pool *s, struct worker *w)
{
    dlock_mutex_lock(&s->mutex);
    w->rests = true;
    pass_on(s);
    dlock_mutex_unlock(&s->mutex);
}

void worker_pool_resume(struct worker_pool *s, struct worker *w)
{
    if (!w->rests)
        return;
    dlock_mutex_lock(&s->mutex);
    w->rests = false;
    s->in_use++;
    dlock_mutex_unlock(&s->mutex);
}

void worker_pool_give(struct worker_pool *s, struct worker *w)
{
    if (w == NULL)
        return;
    dlock_mutex_lock(&s->mutex);
    if (!w->rests)
        pass_on(s);
    w->rests = false;
    w->next_idle = s->idle;
    s->idle = w;
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
