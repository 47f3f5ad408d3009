/* SPDX-License-Identifier: MIT */
/* latch.c -- Redisson's countdown latch: a number that disappears at 0.
 *
 * Promises    all waiters go on at once when the latch is counted down to 0.
 * Breaks      when a process dies before it has counted: the latch never opens, so give
 *             every wait a time limit.
 *
 * In the store, an open latch and a latch that was never set look the same: there is no
 * key.  The message on redisson_countdownlatch__channel__{name} is 0 when it opens and
 * 1 when it is set or deleted. */
#include <stdio.h>

#include "base/os/thread.h"
#include "lock/primitives/primitives.h"

/* Redisson puts this channel's name into braces always, unlike the others. */
static void channel_of(const char *name, char out[REDISSON_NAME_SIZE])
{
    snprintf(out, REDISSON_NAME_SIZE, "redisson_countdownlatch__channel__{%s}", name);
}

static struct primitive_call begin(const dlock_primitives *prims, dlock_event_kind kind,
                      const char *name, int count, int64_t wait_ms)
{
    dlock_event event = {
        .kind = kind, .name = name, .fence = (uint64_t)count, .wait_ms = wait_ms};

    return primitive_begin(prims, &event);
}

dlock_status dlock_latch_set(dlock_primitives *prims, const char *name, int count)
{
    DLOCK_PUT_OFF_CANCEL;
    dlock_status st = primitive_check(prims, name, channel_of);
    char channel[REDISSON_NAME_SIZE];
    char number[12];
    struct primitive_call call;

    if (st == DLOCK_OK)
        st = primitive_check_count(count, 1);
    if (st != DLOCK_OK)
        return st;
    channel_of(name, channel);
    snprintf(number, sizeof(number), "%d", count);
    call = begin(prims, DLOCK_EVENT_LATCH_SET, name, count, 0);
    st = primitive_ask(prims,
                       &PRIMITIVE_CALL(prims, LATCH_SET, 2, 1, name, channel, number),
                       DLOCK_BUSY);
    return primitive_end(prims, &call, st, NULL);
}

dlock_status dlock_latch_count_down(dlock_primitives *prims, const char *name,
                                    int64_t *left)
{
    DLOCK_PUT_OFF_CANCEL;
    dlock_status st = primitive_check(prims, name, channel_of);
    char channel[REDISSON_NAME_SIZE];
    dlock_event answer = {0};
    int64_t number = 0;
    struct primitive_call call;

    if (st != DLOCK_OK)
        return st;
    channel_of(name, channel);
    call = begin(prims, DLOCK_EVENT_LATCH_COUNT, name, 0, 0);
    st = primitive_number(
        prims, &PRIMITIVE_CALL(prims, LATCH_COUNT_DOWN, 2, 0, name, channel),
        REDIS_SHAPE_COUNT, &number);
    if (st == DLOCK_OK && left != NULL)
        *left = number;
    answer.fence = (uint64_t)number;
    return primitive_end(prims, &call, st, &answer);
}

dlock_status dlock_latch_count(dlock_primitives *prims, const char *name, int64_t *left)
{
    DLOCK_PUT_OFF_CANCEL;
    dlock_status st = primitive_check(prims, name, channel_of);

    if (st == DLOCK_OK)
        st = primitive_check_place(left);
    return st == DLOCK_OK ? primitive_get(prims, name, left) : st;
}

dlock_status dlock_latch_delete(dlock_primitives *prims, const char *name)
{
    DLOCK_PUT_OFF_CANCEL;
    dlock_status st = primitive_check(prims, name, channel_of);
    char channel[REDISSON_NAME_SIZE];
    struct primitive_call call;

    if (st != DLOCK_OK)
        return st;
    channel_of(name, channel);
    call = begin(prims, DLOCK_EVENT_LATCH_DELETE, name, 0, 0);
    st = primitive_ask(
        prims, &PRIMITIVE_CALL(prims, LATCH_DELETE, 2, 0, name, channel), DLOCK_LOST);
    return primitive_end(prims, &call, st, NULL);
}

struct waiting {
    struct primitive_wait wait;
    const char *name;
    bool was_gone; /* the key did not exist at the last check */
    bool was_closed; /* the latch had a count, in that era of its server (era.h) */
    uint64_t era;
    bool is_old;   /* a message came while the latch had a count, so it was about an earlier
                    * latch, and so may be the last message */
};

/* The message tells if a latch without a key was opened or deleted.  The message may be
 * late or lost, and the last message may be of an earlier latch of that name.  In these cases
 * the latch is checked again a moment later.  If no message has come by then, the latch counts
 * as open, unless another server has taken over since it was closed. */
static dlock_status look(void *arg, int64_t *free_in_ms)
{
    enum { RECHECK_MS = 5, OPENED = 0, DELETED = 1 };
    struct waiting *job = arg;
    struct redis_waiter *waiter = job->wait.waiter;
    uint64_t era = redis_link_key_era(job->wait.prims->link, job->name);
    int64_t left = 0;
    int64_t heard;
    dlock_status st = primitive_get(job->wait.prims, job->name, &left);

    *free_in_ms = -1;
    if (st != DLOCK_OK)
        return st;
    heard = waiter != NULL ? redis_waiter_heard(waiter) : 0;
    if (left > 0) {
        job->was_gone = false;
        job->was_closed = true;
        job->era = era;
        job->is_old = waiter != NULL && heard >= 0;
        return DLOCK_BUSY;
    }
    if ((heard < 0 || job->is_old) && !job->was_gone) {
        job->was_gone = true;
        *free_in_ms = RECHECK_MS;
        return DLOCK_BUSY;
    }
    if (heard == DELETED)
        return dlock_fail(DLOCK_LOST, "the latch was deleted while it was waited for");
    if (job->was_closed && (heard != OPENED || job->is_old) &&
        job->era != redis_link_key_era(job->wait.prims->link, job->name))
        return dlock_fail(DLOCK_LOST, "a fail-over may have lost the latch");
    return DLOCK_OK;
}

dlock_status dlock_latch_wait(dlock_primitives *prims, const char *name,
                              int64_t wait_ms)
{
    DLOCK_PUT_OFF_CANCEL;
    struct waiting job = {.wait = {.prims = prims, .wake = {&REDIS_WAKE_LATCH, 0}},
                          .name = name};
    dlock_status st = primitive_check(prims, name, channel_of);
    struct primitive_call call;

    if (st != DLOCK_OK)
        return st;
    channel_of(name, job.wait.channel);
    call = begin(prims, DLOCK_EVENT_LATCH_WAIT, name, 0, wait_ms);
    st = primitive_wait(&job.wait, wait_ms, look, &job);
    return primitive_end(prims, &call, st, NULL);
}
