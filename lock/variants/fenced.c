/* SPDX-License-Identifier: MIT */
/* fenced.c -- Redisson's RFencedLock: the lock of reentrant, and a number with it that
 * grows with every new holder.
 *
 * Promises    as reentrant; lease->fence is greater than that of every holder before.
 *             A store that refuses what is written under a smaller one than it has
 *             seen is safe from holders that woke up too late.
 * Breaks      as reentrant, wherever the fence is not looked at; and if the counter is
 *             lost, by a failover or by deleting it.
 * Described   the wire facts are Redisson's; why, Kleppmann's answer to Redlock.
 *
 * The counter is redisson_lock_token:{name}, and stays when the lock is gone: there is
 * one for every name that was ever locked.  Redisson raises it on re-entry too; see
 * lua/fenced_acquire.lua for why that is not copied. */
#include <stdio.h>

#include "gen/lua_scripts.h"
#include "lock/stores/redisson.h"

static dlock_status open_state(const dlock_options *opts, void **state)
{
    return redisson_open((struct redisson_lock **)state, opts, LUA_FENCED_ACQUIRE,
                         LUA_REENTRANT_RELEASE, true);
}

static dlock_status try_acquire(void *opaque, dlock_claim *claim)
{
    const struct redisson_lock *lock = opaque;
    char counter[REDISSON_NAME_SIZE];
    char lease[12];
    char level[12];
    struct redis_script_call call = {
        &lock->acquire,
        false,
        2,
        5,
        {claim->name, counter, lease, claim->owner, level}};

    redisson_name(REDISSON_FENCES, claim->name, counter);
    snprintf(lease, sizeof(lease), "%d", claim->lease_ms);
    snprintf(level, sizeof(level), "%d", claim->level);
    return redisson_acquire_by(lock, claim, &call);
}

extern const dlock_variant dlock_variant_fenced;

const dlock_variant dlock_variant_fenced = {
    .info =
        {
            .name = "fenced",
            .store = "redis",
            .promises = "as reentrant, with a number that grows with every holder",
            .breaks = "as reentrant, where nobody looks at the number",
            .source = "Redisson's RFencedLock",
            .caps = DLOCK_CAP_EXCLUSIVE | DLOCK_CAP_LOCAL | DLOCK_CAP_EXPIRES |
                    DLOCK_CAP_ATOMIC | DLOCK_CAP_OWNED | DLOCK_CAP_RENEW |
                    DLOCK_CAP_REENTRANT | DLOCK_CAP_PUSH | DLOCK_CAP_FENCED,
        },
    .drift_per_mille = 1,
    .watched = true,
    .open = open_state,
    .close = redisson_close,
    .check = redisson_check,
    .try_acquire = try_acquire,
    .renew = redisson_renew,
    .release = redisson_release,
    .watch = redisson_watch,
    .sleep = redisson_sleep,
    .unwatch = redisson_unwatch,
    .inspect = redisson_inspect,
    .force = redisson_force,
};
