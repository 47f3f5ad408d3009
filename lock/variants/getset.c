/* SPDX-License-Identifier: MIT */
/* getset.c -- SETNX of the time at which the lock ends; GET, and then GETSET, decide
 * which client takes over a lock that has ended; released by DEL unless it has ended.
 *
 * Promises    one holder while work ends in its lease and all clients' clocks agree.
 *             Lock and lease are one value, so a crash leaves nothing for ever.
 * Breaks      by the wall clocks of the clients: a client whose clock is ahead takes
 *             over locks that others still hold, and a client whose clock is behind
 *             frees locks that others have taken over.  Also when work outlives the
 *             lease, or a release pauses between reading the clock and the delete.
 * Described   the articles' answer to the crash between SETNX and EXPIRE.  They name
 *             the flaw themselves: the lock does not have its owner's name.
 *
 * The loser of a race of GETSETs has overwritten the winner's time by its own, so the
 * lock ends a little later.  The key never expires in Redis: an ended lock that is not
 * acquired again stays there.  claim->note is the time that was written. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "lock/process.h"
#include "lock/stores/redis_fault.h"
#include "lock/stores/redis_single.h"

enum { TIME_SIZE = 21 };

#define COMMANDS "SETNX GET GETSET DEL"

static dlock_status open_state(const dlock_options *opts, void **state)
{
    return redis_single_open(opts, COMMANDS, (struct redis_link **)state);
}

static void close_state(void *state)
{
    redis_link_close(state);
}

static dlock_status check(void *state)
{
    return redis_single_check(state, COMMANDS);
}

/* Overwrite the ended time that was read by the new time.  The lock is granted if
 * GETSET answers the time that was read, or if the key was gone, because the lock was
 * released meanwhile. */
static dlock_status take_over(struct redis_link *link, const char *name,
                              int64_t seen_ms, const char *end)
{
    struct redis_command getset = {3, {"GETSET", name, end}, REDIS_SHAPE_TIME};
    struct redis_answer before;
    dlock_status st = redis_call(link, &getset, INT64_MAX, &before);

    if (st != DLOCK_OK)
        return st;
    return before.kind == REDIS_NIL || before.integer == seen_ms ? DLOCK_OK : DLOCK_BUSY;
}

static dlock_status try_acquire(void *state, dlock_claim *claim)
{
    char end[TIME_SIZE];
    int64_t now_ms = dlock_process_wall_ms();
    struct redis_answer seen;
    dlock_status st;

    claim->note = (uint64_t)(now_ms + claim->lease_ms);
    snprintf(end, sizeof(end), "%" PRIu64, claim->note);
    st = redis_set_first(state, claim->name, end);
    if (st != DLOCK_BUSY)
        return st;
    st = redis_get(state, claim->name, REDIS_SHAPE_TIME, &seen);
    if (st == DLOCK_LOST || st == DLOCK_UNKNOWN)
        /* LOST: the lock was released just now.  After a failure this client has
         * written nothing, so the answer is IO. */
        return st == DLOCK_LOST ? DLOCK_BUSY : DLOCK_IO;
    if (st != DLOCK_OK)
        return st;
    if (seen.integer >= now_ms)
        return DLOCK_BUSY;
    return take_over(state, claim->name, seen.integer, end);
}

static dlock_status release(void *state, const dlock_claim *claim)
{
    dlock_status st;

    if (dlock_process_wall_ms() >= (int64_t)claim->note)
        return DLOCK_LOST;
    st = redis_fault_before(state, DLOCK_FAULT_BETWEEN_CHECK_AND_DELETE, claim->name);
    return st == DLOCK_OK ? redis_delete(state, claim->name) : st;
}

/* The value is the time at which the lock ends, by the clock of the client that wrote
 * it. */
static dlock_status inspect(void *state, const char *name, dlock_info *out)
{
    struct redis_answer seen;
    dlock_status st = redis_get(state, name, REDIS_SHAPE_TIME, &seen);

    if (st != DLOCK_OK)
        return st == DLOCK_LOST ? DLOCK_OK : st;
    out->left_ms = seen.integer - dlock_process_wall_ms();
    out->locked = out->left_ms >= 0;
    if (out->locked)
        out->hold_count = 1;
    else
        out->left_ms = 0;
    return DLOCK_OK;
}

/* A lock that has ended is free already, and is left for the next holder. */
static dlock_status force(void *state, const char *name)
{
    dlock_info info = {0};
    dlock_status st = inspect(state, name, &info);

    if (st != DLOCK_OK)
        return st == DLOCK_UNKNOWN ? DLOCK_IO : st;
    return info.locked ? redis_delete(state, name) : DLOCK_LOST;
}

extern const dlock_variant dlock_variant_getset;

const dlock_variant dlock_variant_getset = {
    .info =
        {
            .name = "getset",
            .store = "redis",
            .promises = "one holder while work ends in its lease and clocks agree",
            .breaks = "clients' clocks that differ; work that outlives the lease",
            .source = "the articles' SETNX, GET and GETSET",
            .caps = DLOCK_CAP_EXCLUSIVE | DLOCK_CAP_LOCAL | DLOCK_CAP_EXPIRES |
                    DLOCK_CAP_ATOMIC,
        },
    .drift_per_mille = 1,
    .blind_release = true,
    .open = open_state,
    .close = close_state,
    .check = check,
    .era = redis_single_era,
    .try_acquire = try_acquire,
    .release = release,
    .inspect = inspect,
    .force = force,
};
