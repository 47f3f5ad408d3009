/* SPDX-License-Identifier: MIT */
/* spin.c -- Redisson's SpinLock: the lock of reentrant without any message.
 *
 * Promises    as reentrant, but waiters get no message: a waiter tries again after 1
 *             ms, and then after twice as long each time up to 128 ms, less a random
 *             part.
 * Breaks      as reentrant; the cost of waiting grows with the number of waiters, and
 *             the lock may be free for a while until a waiter tries again.
 * Described   the keys are Redisson's. spin is for systems in which messages cost more
 *             than polling, such as a cluster that sends them to all its nodes.
 *
 * spin shares the hash with reentrant, so the two exclude each other; but a waiter of
 * reentrant is not told of a release by spin, and finds it by its own poll. */
#include "gen/lua_scripts.h"
#include "lock/stores/redisson.h"

static dlock_status open_state(const dlock_options *opts, void **state)
{
    return redisson_open((struct redisson_lock **)state, opts, LUA_REENTRANT_ACQUIRE,
                         LUA_REENTRANT_RELEASE, REDISSON_POLLS);
}

extern const dlock_variant dlock_variant_spin;

const dlock_variant dlock_variant_spin = {
    .info =
        {
            .name = "spin",
            .store = "redis",
            .promises = "as reentrant, but waiters ask again, without messages",
            .breaks = "as reentrant; each waiter sends requests to Redis all the time",
            .source = "Redisson's SpinLock",
            .caps = DLOCK_CAP_EXCLUSIVE | DLOCK_CAP_LOCAL | DLOCK_CAP_EXPIRES |
                    DLOCK_CAP_ATOMIC | DLOCK_CAP_OWNED | DLOCK_CAP_RENEW |
                    DLOCK_CAP_REENTRANT,
        },
    .drift_per_mille = 1,
    .watched = true,
    .poll_max_ms = 128,
    .open = open_state,
    .close = redisson_close,
    .check = redisson_check,
    .era = redisson_era,
    .try_acquire = redisson_acquire,
    .renew = redisson_renew,
    .release = redisson_release,
    .read_release = redisson_read_release,
    .send_queued = redisson_send_queued,
    .inspect = redisson_inspect,
    .force = redisson_force,
};
