/* SPDX-License-Identifier: MIT */
/* semaphore.c -- Redisson's semaphore: a number in Redis.
 *
 * Promises    no more permits are taken at once than exist; giving back wakes waiters.
 * Breaks      when a process dies with permits: they are lost, because permits have no
 *             owner.  A process that gives back more than it took lets too many in.
 *
 * The key `name` has the number of free permits.  When permits are made or given back,
 * the new number is published on redisson_sc:{name}. */
#include <stdio.h>

#include "base/os/thread.h"
#include "lock/primitives/primitives.h"

enum { NUMBER_SIZE = 12 };

/* Record the beginning of a call about `permits` permits; a negative number is recorded
 * as 0. */
static struct primitive_call begin(const dlock_primitives *prims, dlock_event_kind kind,
                      const char *name, int permits, int64_t wait_ms)
{
    dlock_event event = {.kind = kind,
                         .name = name,
                         .fence = permits > 0 ? (uint64_t)permits : 0,
                         .wait_ms = wait_ms};

    return primitive_begin(prims, &event);
}

dlock_status dlock_semaphore_set(dlock_primitives *prims, const char *name, int permits)
{
    DLOCK_PUT_OFF_CANCEL;
    dlock_status st = primitive_check(prims, name, primitive_semaphore_channel);
    char channel[REDISSON_NAME_SIZE];
    char number[NUMBER_SIZE];
    struct primitive_call call;

    if (st == DLOCK_OK)
        st = primitive_check_count(permits, 1);
    if (st != DLOCK_OK)
        return st;
    primitive_semaphore_channel(name, channel);
    snprintf(number, sizeof(number), "%d", permits);
    call = begin(prims, DLOCK_EVENT_SEM_SET, name, permits, 0);
    st = primitive_ask(
        prims, &PRIMITIVE_CALL(prims, SEMAPHORE_SET, 2, 1, name, channel, number),
        DLOCK_BUSY);
    return primitive_end(prims, &call, st, NULL);
}

struct acquiring {
    struct primitive_wait wait;
    const char *name;
    char permits[NUMBER_SIZE];
};

/* After UNKNOWN the call does not clean up and does not try again: permits have no
 * owner, so Redis cannot tell if they were taken, and a second request might take them
 * twice. */
static dlock_status attempt(void *arg, int64_t *free_in_ms)
{
    struct acquiring *job = arg;

    *free_in_ms = -1;
    return primitive_ask(job->wait.prims,
                         &PRIMITIVE_CALL(job->wait.prims, SEMAPHORE_ACQUIRE, 1, 1,
                                         job->name, job->permits),
                         DLOCK_BUSY);
}

dlock_status dlock_semaphore_acquire(dlock_primitives *prims, const char *name,
                                     int permits, int64_t wait_ms)
{
    DLOCK_PUT_OFF_CANCEL;
    struct acquiring job = {
        .wait = {.prims = prims,
                 .wake = {&REDIS_WAKE_SEMAPHORE, permits},
                 .counts_twice = true},
        .name = name,
    };
    dlock_status st = primitive_check(prims, name, primitive_semaphore_channel);
    struct primitive_call call;

    if (st == DLOCK_OK)
        st = primitive_check_count(permits, 1);
    if (st != DLOCK_OK)
        return st;
    primitive_semaphore_channel(name, job.wait.channel);
    snprintf(job.permits, sizeof(job.permits), "%d", permits);
    call = begin(prims, DLOCK_EVENT_SEM_TAKE, name, permits, wait_ms);
    st = primitive_wait(&job.wait, wait_ms, attempt, &job);
    return primitive_end(prims, &call, st, NULL);
}

static dlock_status add(dlock_primitives *prims, const char *name, int permits,
                        dlock_event_kind kind)
{
    struct primitive_call call = begin(prims, kind, name, permits, 0);
    char channel[REDISSON_NAME_SIZE];
    char number[NUMBER_SIZE];
    dlock_status st;
    int64_t now;

    primitive_semaphore_channel(name, channel);
    snprintf(number, sizeof(number), "%d", permits);
    st = primitive_number(
        prims, &PRIMITIVE_CALL(prims, SEMAPHORE_ADD, 2, 1, name, channel, number),
        REDIS_SHAPE_BALANCE, &now);
    return primitive_end(prims, &call, st, NULL);
}

dlock_status dlock_semaphore_release(dlock_primitives *prims, const char *name,
                                     int permits)
{
    DLOCK_PUT_OFF_CANCEL;
    dlock_status st = primitive_check(prims, name, primitive_semaphore_channel);

    if (st == DLOCK_OK)
        st = primitive_check_count(permits, 1);
    return st == DLOCK_OK ? add(prims, name, permits, DLOCK_EVENT_SEM_GIVE) : st;
}

dlock_status dlock_semaphore_add(dlock_primitives *prims, const char *name, int permits)
{
    DLOCK_PUT_OFF_CANCEL;
    dlock_status st = primitive_check(prims, name, primitive_semaphore_channel);

    if (st == DLOCK_OK)
        st = primitive_check_count(permits, -DLOCK_COUNT_MAX);
    return st == DLOCK_OK ? add(prims, name, permits, DLOCK_EVENT_SEM_ADD) : st;
}

dlock_status dlock_semaphore_available(dlock_primitives *prims, const char *name,
                                       int64_t *permits)
{
    DLOCK_PUT_OFF_CANCEL;
    dlock_status st = primitive_check(prims, name, primitive_semaphore_channel);

    if (st == DLOCK_OK)
        st = primitive_check_place(permits);
    return st == DLOCK_OK ? primitive_get(prims, name, permits) : st;
}

dlock_status dlock_semaphore_drain(dlock_primitives *prims, const char *name,
                                   int64_t *permits)
{
    DLOCK_PUT_OFF_CANCEL;
    dlock_status st = primitive_check(prims, name, primitive_semaphore_channel);
    dlock_event answer = {0};
    struct primitive_call call;

    if (st == DLOCK_OK)
        st = primitive_check_place(permits);
    if (st != DLOCK_OK)
        return st;
    call = begin(prims, DLOCK_EVENT_SEM_DRAIN, name, 0, 0);
    st = primitive_number(prims, &PRIMITIVE_CALL(prims, SEMAPHORE_DRAIN, 1, 0, name),
                          REDIS_SHAPE_COUNT, permits);
    if (st == DLOCK_OK)
        answer.fence = (uint64_t)*permits;
    return primitive_end(prims, &call, st, &answer);
}
