/* SPDX-License-Identifier: MIT */
/* fenced.c -- Redisson's RFencedLock: the lock of reentrant, and a number with it that
 * grows with every new holder.
 *
 * Promises    as reentrant; lease->fence is greater than that of every holder before,
 *             and with a database_url also after Redis has lost its data.  A store that
 *             refuses writes with a smaller fence than it has seen is safe from holders
 *             that wake up too late.
 * Breaks      as reentrant, where the store does not check the fence.  The fence
 *             itself: without a database_url when the counter is lost, by a restart
 *             without persistence, a failover or by deleting it; then it begins again
 *             at 1.  With one, only when a failover or a restart loses the newest
 *             increments and not the counter: the next holder then gets the number of
 *             the one before it.
 * Described   the keys are Redisson's; the reason for a fence is in Kleppmann's answer
 *             to Redlock.
 *
 * The counter is redisson_lock_token:{name}, and stays when the lock is gone: there is
 * one for every name that was ever locked.  Redisson raises it on re-entry too; see
 * lua/fenced_acquire.lua for why that is not copied.
 *
 * With a database, the counter of a name begins at an epoch of stores/fence_epochs.h,
 * so PostgreSQL is asked once for each name and each loss.  If PostgreSQL does not
 * answer then, the lock is granted to no owner.  Redisson goes on counting from there.
 * If Redis has lost the counter and Redisson uses the lock before this library does,
 * Redisson begins it at 1 again. */
#include <stdio.h>

#include "gen/lua_scripts.h"
#include "lock/stores/redisson.h"

enum {
    EPOCH_MISSING = -4, /* see fenced_acquire.lua */
    TRIES_MAX = 4,      /* each further try means that Redis lost its data once more */
};

#define EPOCH_ASKED "dlock_fence_epoch"

static dlock_status open_state(const dlock_options *opts, void **state)
{
    struct redisson_lock *lock = NULL;
    dlock_status st = redisson_open(&lock, opts, LUA_FENCED_ACQUIRE,
                                    LUA_REENTRANT_RELEASE, REDISSON_SHARES_GRANTS);

    *state = NULL;
    if (st == DLOCK_OK)
        st = fence_epochs_open(&lock->epochs, opts);
    if (st != DLOCK_OK) {
        if (lock != NULL)
            redisson_close(lock);
        return st;
    }
    *state = lock;
    return DLOCK_OK;
}

static dlock_status check(void *opaque)
{
    const struct redisson_lock *lock = opaque;
    dlock_status st = redisson_check(opaque);

    return st == DLOCK_OK ? fence_epochs_check(lock->epochs) : st;
}

static const struct redis_shape *shape_of(const dlock_claim *claim, bool has_epochs)
{
    if (has_epochs)
        return claim->level > 1 ? REDIS_SHAPE_EPOCH_MORE : REDIS_SHAPE_EPOCH;
    return claim->level > 1 ? REDIS_SHAPE_FENCE_MORE : REDIS_SHAPE_FENCE;
}

static dlock_status try_acquire(void *opaque, dlock_claim *claim)
{
    const struct redisson_lock *lock = opaque;
    char counter[REDISSON_NAME_SIZE];
    char asked[REDISSON_NAME_SIZE];
    char first[FENCE_TEXT_SIZE] = "?";
    char lease[12];
    char level[12];
    struct redis_script_call call = {
        &lock->acquire,
        false,
        3,
        8,
        {claim->name, counter, asked, lease, claim->owner, level, first, claim->token},
        shape_of(claim, lock->epochs != NULL)};

    redisson_name(REDISSON_FENCES, claim->name, counter);
    redisson_name(EPOCH_ASKED, claim->name, asked);
    snprintf(lease, sizeof(lease), "%d", claim->lease_ms);
    snprintf(level, sizeof(level), "%d", claim->level);
    if (lock->epochs == NULL)
        first[0] = '\0';
    for (int i = 0; i < TRIES_MAX; i++) {
        dlock_status st = redisson_acquire_by(lock, claim, &call);

        if (st != DLOCK_BUSY || claim->free_in_ms != EPOCH_MISSING)
            return st;
        claim->free_in_ms = -1;
        st = fence_epochs_draw(lock->epochs, claim->give_up_ns, first);
        if (st != DLOCK_OK)
            return st;
    }
    return dlock_fail(DLOCK_IO, "the counter of fences %s is lost again and again, or "
                                "ahead of the epochs in PostgreSQL", counter);
}

extern const dlock_variant dlock_variant_fenced;

const dlock_variant dlock_variant_fenced = {
    .info =
        {
            .name = "fenced",
            .store = "redis",
            .promises = "as reentrant, with a number that grows with every holder",
            .breaks = "as reentrant, if no guard compares the number; a fail-over that repeats a "
                      "number; without a database_url a Redis that loses its data",
            .source = "Redisson's RFencedLock",
            .caps = DLOCK_CAP_EXCLUSIVE | DLOCK_CAP_LOCAL | DLOCK_CAP_EXPIRES |
                    DLOCK_CAP_ATOMIC | DLOCK_CAP_OWNED | DLOCK_CAP_RENEW |
                    DLOCK_CAP_REENTRANT | DLOCK_CAP_PUSH | DLOCK_CAP_FENCED,
        },
    .drift_per_mille = 1,
    .watched = true,
    .open = open_state,
    .close = redisson_close,
    .check = check,
    .era = redisson_era,
    .try_acquire = try_acquire,
    .renew = redisson_renew,
    .release = redisson_release,
    .read_release = redisson_read_release,
    .send_queued = redisson_send_queued,
    .watch = redisson_watch,
    .sleep = redisson_sleep,
    .unwatch = redisson_unwatch,
    .inspect = redisson_inspect,
    .force = redisson_force,
};
