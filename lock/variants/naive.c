/* SPDX-License-Identifier: MIT */
/* naive.c -- SET NX PX, released by DEL, whichever owner has the lock by then.
 *
 * Promises    one holder among all processes, as long as all work ends within its
 *             lease.
 * Breaks      when work outlives the lease: the late holder deletes the lock of the
 *             next holder, so that a third holder gets the lock, and so on.
 * Described   the articles' first lock in Redis; its value is the thread's number,
 *             which is never checked.
 *
 * After an unanswered acquire no DEL is sent, because it could free another owner's
 * lock; the lease ends the lock anyway. */
#include "lock/stores/redis_inspect.h"

#define COMMANDS "SET DEL"

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
    return redis_set_if_absent(state, claim->name, claim->number, claim->lease_ms);
}

static dlock_status release(void *state, const dlock_claim *claim)
{
    return redis_delete(state, claim->name);
}

extern const dlock_variant dlock_variant_naive;

const dlock_variant dlock_variant_naive = {
    .info =
        {
            .name = "naive",
            .store = "redis",
            .promises = "one holder while all work ends within its lease",
            .breaks = "work that outlives the lease: it deletes the next holder's lock",
            .source = "the articles' SET NX EX with DEL",
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
    .inspect = redis_string_inspect,
    .force = redis_string_force,
};
