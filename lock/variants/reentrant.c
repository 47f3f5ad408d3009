/* SPDX-License-Identifier: MIT */
/* reentrant.c -- Redisson's RLock, on its own keys, fields, channels and messages.
 *
 * Promises    one holder, who may lock again; the watchdog renews the lease while it
 *             works; waiters are woken by the release.
 * Breaks      when the whole process stops for longer than the lease, and then goes on
 *             writing; and when a failover loses the key.
 * Described   the articles' Redisson chapters; keys, scripts and messages are
 *             compatible with Redisson's.
 *
 * The lock is a hash at its name with one field, "uuid:number", that counts the levels;
 * its release publishes 0 on redisson_lock__channel:{name}.  So this program and a Java
 * program exclude each other on the same lock. */
#include "gen/lua_scripts.h"
#include "lock/stores/redisson.h"

static dlock_status open_state(const dlock_options *opts, void **state)
{
    return redisson_open((struct redisson_lock **)state, opts, LUA_REENTRANT_ACQUIRE,
                         LUA_REENTRANT_RELEASE, REDISSON_SHARES_GRANTS);
}

extern const dlock_variant dlock_variant_reentrant;

const dlock_variant dlock_variant_reentrant = {
    .info =
        {
            .name = "reentrant",
            .store = "redis",
            .promises = "one holder, re-entrant; renewed while its process runs",
            .breaks = "a process that stops beyond its lease; a lost key",
            .source = "the articles' Redisson RLock",
            .caps = DLOCK_CAP_EXCLUSIVE | DLOCK_CAP_LOCAL | DLOCK_CAP_EXPIRES |
                    DLOCK_CAP_OWNED | DLOCK_CAP_RENEW | DLOCK_CAP_REENTRANT |
                    DLOCK_CAP_PUSH | DLOCK_CAP_ATOMIC,
        },
    .drift_per_mille = 1,
    .watched = true,
    .open = open_state,
    .close = redisson_close,
    .check = redisson_check,
    .era = redisson_era,
    .try_acquire = redisson_acquire,
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
