/* SPDX-License-Identifier: MIT */
/* fair.c -- Redisson's fair lock: as reentrant, in the order of arrival.
 *
 * Promises    as reentrant; the waiter that came first is served first, and a release
 *             wakes one waiter.  A waiter that died holds up the others for no more
 *             than TURN_MS.
 * Breaks      as reentrant.  A waiter whose process stood still for longer than TURN_MS
 *             loses its place.
 * Described   the articles' Redisson chapters; keys, scripts and messages are
 *             compatible with Redisson's.
 *
 * Beside the hash there are the list redisson_lock_queue:{name} and the sorted set
 * redisson_lock_timeout:{name}; each waiter has a channel of its own.  Its thread stays
 * subscribed for a moment after the grant, so that a thread that takes the same lock
 * again and again subscribes once, and saves two commands for each grant.  Redisson
 * counts a waiter as alive for minutes after it came, and the waiters behind a dead one
 * ask Redis without a pause.  Here each attempt renews the deadline of its waiter, and
 * there is an attempt every few hundred ms.  When a Java program takes the lock, it
 * moves the deadlines of all waiters back by its own minutes; lua/fair_acquire.lua
 * compensates for that.  A waiter of this library may lose its place only behind a Java
 * waiter that waits with a limit of more than five minutes, or whose
 * fairLockWaitTimeout is not Redisson's default. */
#include <stdio.h>

#include "gen/lua_scripts.h"
#include "lock/stores/redisson.h"

enum { TURN_MS = 1500 };

/* The keys of a claim. */
struct keys {
    char queue[REDISSON_NAME_SIZE];
    char timeouts[REDISSON_NAME_SIZE];
    char lease[12];
    char level[12];
};

static void keys_of(const dlock_claim *claim, int level, struct keys *out)
{
    redisson_name(REDISSON_QUEUE, claim->name, out->queue);
    redisson_name(REDISSON_TIMEOUTS, claim->name, out->timeouts);
    snprintf(out->lease, sizeof(out->lease), "%d", claim->lease_ms);
    snprintf(out->level, sizeof(out->level), "%d", level);
}

/* Write the channel of a waiter; with the owner "", the prefix of all these
 * channels. */
static void channel_of(const char *name, const char *owner,
                       char out[REDISSON_NAME_SIZE])
{
    char common[REDISSON_NAME_SIZE];

    redisson_name(REDISSON_CHANNEL, name, common);
    /* The core has checked the length of both. */
    if (snprintf(out, REDISSON_NAME_SIZE, "%s:%s", common, owner) >= REDISSON_NAME_SIZE)
        out[0] = '\0';
}

static dlock_status open_state(const dlock_options *opts, void **state)
{
    return redisson_open((struct redisson_lock **)state, opts, LUA_FAIR_ACQUIRE,
                         LUA_FAIR_RELEASE, REDISSON_IS_TOLD);
}

static dlock_status try_acquire(void *opaque, dlock_claim *claim)
{
    const struct redisson_lock *lock = opaque;
    struct keys keys;
    char turn[12];
    struct redis_script_call call = {
        &lock->acquire,
        false,
        3,
        7,
        {claim->name, keys.queue, keys.timeouts, keys.lease, claim->owner, keys.level,
         turn},
        redisson_acquire_shape(claim)};

    keys_of(claim, claim->level, &keys);
    snprintf(turn, sizeof(turn), "%d", claim->wait_until_ns > 0 ? TURN_MS : 0);
    return redisson_acquire_by(lock, claim, &call);
}

static dlock_status give_back(const struct redisson_lock *lock,
                              const dlock_claim *claim, int level)
{
    struct keys keys;
    char channel[REDISSON_NAME_SIZE];
    struct redis_script_call call = {
        &lock->release,
        false,
        3,
        8,
        {claim->name, keys.queue, keys.timeouts, claim->owner, keys.level, keys.lease,
         REDISSON_FREED, channel},
        level > 1    ? REDIS_SHAPE_RELEASE_MORE
        : level == 1 ? REDIS_SHAPE_RELEASE
                     : REDIS_SHAPE_YES_NO};

    keys_of(claim, level, &keys);
    channel_of(claim->name, "", channel);
    return redisson_release_by(lock, claim, &call);
}

static dlock_status release(void *lock, const dlock_claim *claim)
{
    return give_back(lock, claim, claim->level);
}

static dlock_status inspect(void *opaque, const char *name, dlock_info *out)
{
    const struct redisson_lock *lock = opaque;
    char channel[REDISSON_NAME_SIZE];
    struct redisson_keys keys;
    struct redis_script_call call;
    dlock_status st;

    channel_of(name, "", channel);
    call = redisson_inspect_call(name, "queue", channel, &keys);
    st = redisson_check_slot(lock->link, name, keys.queue);
    return st == DLOCK_OK ? redis_inspect_by(lock->link, &call, out) : st;
}

/* If a waiter gave up although the lock was free, put the dead waiter that had the turn
 * into the reason. */
static void name_dead_waiter(void *lock, const dlock_claim *claim)
{
    dlock_info info;

    if (inspect(lock, claim->name, &info) != DLOCK_OK || info.locked ||
        !info.next_is_gone)
        return;
    (void)dlock_fail(DLOCK_TIMEOUT,
                     "the lock is free, but the next turn is that of %s, which no client "
                     "listens for; it is kept for %lld ms more, or until "
                     "dlock_force_release()",
                     info.next_owner, (long long)info.next_left_ms);
}

static void leave(void *lock, const dlock_claim *claim)
{
    if (!dlock_is_failure(give_back(lock, claim, 0))) /* else the place ends by its deadline */
        name_dead_waiter(lock, claim);
}

static void *watch(void *opaque, const dlock_claim *claim)
{
    const struct redisson_lock *lock = opaque;
    char channel[REDISSON_NAME_SIZE];

    channel_of(claim->name, claim->owner, channel);
    return redis_subscription_join(lock->subscription, channel,
                                      (struct redis_wake){.rule = &REDIS_WAKE_SOLE});
}

static dlock_status force(void *opaque, const char *name)
{
    const struct redisson_lock *lock = opaque;
    char channel[REDISSON_NAME_SIZE];
    struct redisson_keys keys;
    struct redis_script_call call;
    dlock_status st;

    channel_of(name, "", channel);
    call = redisson_force_call(name, "queue", channel, &keys);
    st = redisson_check_slot(lock->link, name, keys.queue);
    return st == DLOCK_OK ? redis_script_ask(lock->link, &call, INT64_MAX) : st;
}

extern const dlock_variant dlock_variant_fair;

const dlock_variant dlock_variant_fair = {
    .info =
        {
            .name = "fair",
            .store = "redis",
            .promises = "as reentrant, and served in the order of arrival",
            .breaks = "as reentrant; a waiter that stops loses its place",
            .source = "the articles' Redisson fair lock",
            .caps = DLOCK_CAP_EXCLUSIVE | DLOCK_CAP_LOCAL | DLOCK_CAP_EXPIRES |
                    DLOCK_CAP_ATOMIC | DLOCK_CAP_OWNED | DLOCK_CAP_RENEW |
                    DLOCK_CAP_REENTRANT | DLOCK_CAP_PUSH | DLOCK_CAP_FAIR,
        },
    .drift_per_mille = 1,
    .watched = true,
    .may_be_handed_over = true,
    .open = open_state,
    .close = redisson_close,
    .check = redisson_check,
    .era = redisson_era,
    .try_acquire = try_acquire,
    .renew = redisson_renew,
    .release = release,
    .read_release = redisson_read_release,
    .send_queued = redisson_send_queued,
    .watch = watch,
    .sleep = redisson_sleep,
    .unwatch = redisson_unwatch,
    .leave = leave,
    .inspect = inspect,
    .force = force,
};
