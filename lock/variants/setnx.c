/* SPDX-License-Identifier: MIT */
/* setnx.c -- SETNX, then EXPIRE; released by DEL, whichever owner has the lock by then.
 *
 * Promises    one holder among all processes, as long as all work ends within its
 *             lease, and no holder dies between the two commands.
 * Breaks      when the holder dies, or loses its connection, between the two commands:
 *             the lock is held for ever.  And when work outlives the lease, as naive.
 * Described   the articles' first attempt in Redis; its value is the thread's number,
 *             which is never checked.
 *
 * After an unanswered acquire no DEL is sent, because it could free another owner's
 * lock. */
#include "lock/stores/redis_fault.h"
#include "lock/stores/redis_inspect.h"

#define COMMANDS "SETNX PEXPIRE DEL"

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

static dlock_status try_acquire(void *state, dlock_claim *claim)
{
    dlock_status st = redis_set_first(state, claim->name, claim->number);

    if (st != DLOCK_OK)
        return st;
    st = redis_fault_before(state, DLOCK_FAULT_BETWEEN_SETNX_AND_EXPIRE, claim->name);
    if (st == DLOCK_OK)
        st = redis_expire(state, claim->name, claim->lease_ms);
    if (st == DLOCK_LOST) /* freed by a late release of another owner */
        return DLOCK_BUSY;
    return st == DLOCK_IO ? DLOCK_UNKNOWN : st; /* the first command was executed */
}

static dlock_status release(void *state, const dlock_claim *claim)
{
    return redis_delete(state, claim->name);
}

extern const dlock_variant dlock_variant_setnx;

const dlock_variant dlock_variant_setnx = {
    .info =
        {
            .name = "setnx",
            .store = "redis",
            .promises = "one holder while all work ends in its lease and no holder dies",
            .breaks = "a crash between its two commands: held for ever; else as naive",
            .source = "the articles' SETNX with EXPIRE and DEL",
            .caps = DLOCK_CAP_EXCLUSIVE | DLOCK_CAP_LOCAL | DLOCK_CAP_EXPIRES,
        },
    .drift_per_mille = 1,
    .blind_release = true,
    .open = open_state,
    .close = close_state,
    .check = check,
    .era = redis_single_era,
    .try_acquire = try_acquire,
    .release = release,
    .inspect = redis_string_inspect,
    .force = redis_string_force,
};
