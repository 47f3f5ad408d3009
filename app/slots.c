/* SPDX-License-Identifier: MIT */
/* slots.c -- how many requests are worked on at once. */
#include "app/slots.h"

#include <errno.h>
#include <stdlib.h>
#include <time.h>

/* A request that waits; it lies on its thread's stack. */
struct waiter {
    pthread_cond_t given;
    struct worker *worker; /* what it was given; NULL: nothing yet */
    struct waiter *next;
};

struct slots {
    struct service *service;
    pthread_mutex_t mutex;
    int64_t total;
    int64_t in_use;
    int64_t waiting;
    uint64_t timed_out;
    struct waiter *first; /* who is next; NULL: none waits */
    struct waiter **last; /* where another one goes */
    int64_t idle_count;
    struct worker *idle[]; /* the one used last on top: it is in the caches */
};

struct slots *slots_new(struct service *service, int64_t count)
{
    struct slots *s = calloc(1, sizeof(*s) + (size_t)count * sizeof(s->idle[0]));

    if (s == NULL)
        return NULL;
    (void)pthread_mutex_init(&s->mutex, NULL);
    s->service = service;
    s->total = count;
    s->last = &s->first;
    return s;
}

void slots_free(struct slots *s)
{
    if (s == NULL)
        return;
    while (s->idle_count > 0)
        worker_free(s->idle[--s->idle_count]);
    (void)pthread_mutex_destroy(&s->mutex);
    free(s);
}

static void leave_queue(struct slots *s, struct waiter *me)
{
    struct waiter **at = &s->first;

    while (*at != me)
        at = &(*at)->next;
    *at = me->next;
    if (s->last == &me->next)
        s->last = at;
    s->waiting--;
}

/* `me` must be out of the queue before its function returns: slots_give() takes it out, or
 * leave_queue() does. */
static void enter_queue(struct slots *s, struct waiter *me)
{
    *s->last = me;
    s->last = &me->next;
    s->waiting++;
}

/* Wait for one that is given back; the mutex is held. */
static struct worker *wait_for_one(struct slots *s, int64_t wait_ms)
{
    struct waiter me = {.worker = NULL};
    struct timespec deadline;
    pthread_condattr_t attr;
    int rc = 0;

    (void)pthread_condattr_init(&attr);
    (void)pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
    (void)pthread_cond_init(&me.given, &attr);
    (void)pthread_condattr_destroy(&attr);
    (void)clock_gettime(CLOCK_MONOTONIC, &deadline);
    deadline.tv_sec += wait_ms / 1000;
    deadline.tv_nsec += wait_ms % 1000 * 1000000;
    if (deadline.tv_nsec >= 1000000000) {
        deadline.tv_sec++;
        deadline.tv_nsec -= 1000000000;
    }
    enter_queue(s, &me);
    while (me.worker == NULL && rc != ETIMEDOUT)
        rc = pthread_cond_timedwait(&me.given, &s->mutex, &deadline);
    if (me.worker == NULL) {
        leave_queue(s, &me);
        s->timed_out++;
    }
    (void)pthread_cond_destroy(&me.given);
    return me.worker;
}

struct worker *slots_take(struct slots *s, int64_t wait_ms)
{
    struct worker *w = NULL;
    bool is_new = false;

    (void)pthread_mutex_lock(&s->mutex);
    if (s->in_use < s->total) {
        s->in_use++;
        is_new = s->idle_count == 0;
        w = is_new ? NULL : s->idle[--s->idle_count];
    } else {
        w = wait_for_one(s, wait_ms);
    }
    (void)pthread_mutex_unlock(&s->mutex);
    if (!is_new)
        return w;
    w = worker_new(s->service);
    if (w == NULL) {
        (void)pthread_mutex_lock(&s->mutex);
        s->in_use--;
        (void)pthread_mutex_unlock(&s->mutex);
    }
    return w;
}

void slots_give(struct slots *s, struct worker *w)
{
    struct waiter *next = NULL;

    if (w == NULL)
        return;
    (void)pthread_mutex_lock(&s->mutex);
    next = s->first;
    if (next != NULL) {
        leave_queue(s, next);
        next->worker = w;
        (void)pthread_cond_signal(&next->given);
    } else {
        s->idle[s->idle_count++] = w;
        s->in_use--;
    }
    (void)pthread_mutex_unlock(&s->mutex);
}

void slots_read_stats(struct slots *s, struct slots_stats *out)
{
    (void)pthread_mutex_lock(&s->mutex);
    *out = (struct slots_stats){
        .total = s->total,
        .in_use = s->in_use,
        .waiting = s->waiting,
        .timed_out = s->timed_out,
    };
    (void)pthread_mutex_unlock(&s->mutex);
}
