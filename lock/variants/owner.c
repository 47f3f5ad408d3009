/* SPDX-License-Identifier: MIT */
/* owner.c -- SET NX PX with the owner as value, released by GET, compare, DEL.
 *
 * Promises    as naive, and a late holder normally sees that the lock is not its own.
 * Breaks      when work outlives the lease (there are two holders), and when the holder
 *             pauses between its check and its delete: then it deletes the next
 *             holder's lock.
 * Described   the articles' second lock in Redis, with "uuid-thread" as value. */
#include <stdio.h>
#include <string.h>

#include "lock/stores/redis_fault.h"
#include "lock/stores/redis_inspect.h"

enum { VALUE_SIZE = 64 };

#define COMMANDS "SET GET DEL"

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

static void value_of(const dlock_claim *claim, char out[VALUE_SIZE])
{
    snprintf(out, VALUE_SIZE, "%s-%s", claim->uuid, claim->number);
}

static dlock_status try_acquire(void *state, dlock_claim *claim)
{
    char value[VALUE_SIZE];

    value_of(claim, value);
    return redis_set_if_absent(state, claim->name, value, claim->lease_ms);
}

static dlock_status release(void *state, const dlock_claim *claim)
{
    char mine[VALUE_SIZE];
    struct redis_answer found;
    dlock_status st;

    value_of(claim, mine);
    st = redis_get(state, claim->name, REDIS_SHAPE_TEXT, &found);
    if (st != DLOCK_OK)
        return st;
    if (!redis_answer_is(&found, mine))
        return DLOCK_LOST;
    st = redis_fault_before(state, DLOCK_FAULT_BETWEEN_CHECK_AND_DELETE, claim->name);
    return st == DLOCK_OK ? redis_delete(state, claim->name) : st;
}

extern const dlock_variant dlock_variant_owner;

const dlock_variant dlock_variant_owner = {
    .info =
        {
            .name = "owner",
            .store = "redis",
            .promises = "as naive, and a late holder compares the owner before it deletes",
            .breaks = "work that outlives the lease; a pause between check and delete",
            .source = "the articles' owner check",
            .caps = DLOCK_CAP_EXCLUSIVE | DLOCK_CAP_LOCAL | DLOCK_CAP_EXPIRES |
                    DLOCK_CAP_ATOMIC,
        },
    .drift_per_mille = 1,
    .open = open_state,
    .close = close_state,
    .check = check,
    .era = redis_single_era,
    .try_acquire = try_acquire,
    .release = release,
    .inspect = redis_string_inspect,
    .force = redis_string_force,
};
