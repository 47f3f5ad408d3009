/* SPDX-License-Identifier: MIT */
/* reentrant.c -- Redisson's RLock, on its own keys, fields, channels and messages.
 *
 * Promises    one holder, who may lock again; the watchdog renews the lease while it
 *             works; waiters are woken by the release.
 * Breaks      when the whole process stops for longer than the lease, and then goes on
 *             writing; and when a failover loses the key.
 * Described   the articles' Redisson chapters; the wire facts are Redisson's own.
 *
 * The lock is a hash at its name with one field, "uuid:number", that counts the levels;
 * its release publishes 0 on redisson_lock__channel:{name}.  So this program and a Java
 * program exclude each other on the same lock. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "gen/lua_scripts.h"
#include "lock/stores/redis_single.h"
#include "lock/stores/redis_subscription.h"

#define MESSAGE_FREED "0"

enum { LEVELS_MISSING = -3 }; /* see reentrant_acquire.lua */

struct state {
    struct redis_link *link;
    struct redis_subscription *subscription;
    struct redis_script acquire;
    struct redis_script renew;
    struct redis_script release;
};

static void close_state(void *opaque)
{
    struct state *state = opaque;

    redis_subscription_close(state->subscription);
    redis_link_close(state->link);
    free(state);
}

static dlock_status open_state(const dlock_options *opts, void **out)
{
    struct state *state = calloc(1, sizeof(*state));
    dlock_status st;

    if (state == NULL)
        return dlock_fail(DLOCK_NOMEM, "no memory for the variant");
    state->acquire.text = LUA_REENTRANT_ACQUIRE;
    state->renew.text = LUA_REENTRANT_RENEW;
    state->release.text = LUA_REENTRANT_RELEASE;
    st = redis_single_open(opts, &state->link);
    if (st == DLOCK_OK)
        st = redis_script_load(state->link, &state->acquire);
    if (st == DLOCK_OK)
        st = redis_script_load(state->link, &state->renew);
    if (st == DLOCK_OK)
        st = redis_script_load(state->link, &state->release);
    if (st == DLOCK_OK)
        st = redis_subscription_open(&state->subscription, opts->redis_url,
                                     opts->redis_timeout_ms);
    if (st != DLOCK_OK) {
        close_state(state);
        return st;
    }
    *out = state;
    return DLOCK_OK;
}

static dlock_status check(void *opaque)
{
    const struct state *state = opaque;

    return redis_ping(state->link);
}

/* Redisson puts a name into braces, so that the channel shares its cluster slot, unless
 * there are some in it. */
static void channel_of(const char *name, char out[REDIS_CHANNEL_MAX + 1])
{
    bool has_braces = strchr(name, '{') != NULL;

    snprintf(out, REDIS_CHANNEL_MAX + 1, "redisson_lock__channel:%s%s%s",
             has_braces ? "" : "{", name, has_braces ? "" : "}");
}

static dlock_status try_acquire(void *opaque, dlock_claim *claim)
{
    const struct state *state = opaque;
    char lease[12];
    char level[12];
    struct redis_script_call call = {
        &state->acquire, false, 1, 4, {claim->name, lease, claim->owner, level}};
    struct redis_answer answer;
    dlock_status st;

    snprintf(lease, sizeof(lease), "%d", claim->lease_ms);
    snprintf(level, sizeof(level), "%d", claim->level);
    st = redis_script_run(state->link, &call, claim->give_up_ns, &answer);
    if (st != DLOCK_OK)
        return st;
    if (answer.kind == REDIS_NIL)
        return DLOCK_OK;
    if (answer.kind != REDIS_INTEGER)
        return redis_unexpected(state->link, "an acquire");
    if (answer.integer == LEVELS_MISSING)
        return DLOCK_LOST;
    claim->free_in_ms = answer.integer;
    return DLOCK_BUSY;
}

static dlock_status renew(void *opaque, const dlock_claim *claim)
{
    const struct state *state = opaque;
    char lease[12];
    struct redis_script_call call = {
        &state->renew, false, 1, 3, {claim->name, lease, claim->owner}};

    snprintf(lease, sizeof(lease), "%d", claim->lease_ms);
    return redis_script_ask(state->link, &call, claim->give_up_ns);
}

static dlock_status release(void *opaque, const dlock_claim *claim)
{
    const struct state *state = opaque;
    char channel[REDIS_CHANNEL_MAX + 1];
    char lease[12];
    char level[12];
    struct redis_script_call call = {
        &state->release,
        false,
        2,
        6,
        {claim->name, channel, claim->owner, level, lease, MESSAGE_FREED}};
    struct redis_answer answer;
    dlock_status st;

    channel_of(claim->name, channel);
    snprintf(lease, sizeof(lease), "%d", claim->lease_ms);
    snprintf(level, sizeof(level), "%d", claim->level);
    st = redis_script_run(state->link, &call, claim->give_up_ns, &answer);
    if (st != DLOCK_OK)
        return st;
    if (answer.kind == REDIS_NIL)
        return DLOCK_LOST;
    if (answer.kind == REDIS_INTEGER)
        return DLOCK_OK;
    return redis_unexpected(state->link, "a release");
}

static void *watch(void *opaque, const char *name)
{
    const struct state *state = opaque;
    char channel[REDIS_CHANNEL_MAX + 1];

    channel_of(name, channel);
    return redis_subscription_join(state->subscription, channel);
}

static void sleep_until(void *waiter, int64_t until_ns)
{
    (void)redis_waiter_sleep(waiter, until_ns);
}

static void unwatch(void *waiter, bool granted)
{
    redis_waiter_leave(waiter, granted);
}

extern const dlock_variant dlock_variant_reentrant;

const dlock_variant dlock_variant_reentrant = {
    .info =
        {
            .name = "reentrant",
            .store = "redis",
            .promises = "one holder, who may lock again; renewed while it runs",
            .breaks = "a process that stops beyond its lease; a lost key",
            .source = "the articles' Redisson RLock",
            .caps = DLOCK_CAP_EXCLUSIVE | DLOCK_CAP_LOCAL | DLOCK_CAP_EXPIRES |
                    DLOCK_CAP_OWNED | DLOCK_CAP_RENEW | DLOCK_CAP_REENTRANT |
                    DLOCK_CAP_PUSH | DLOCK_CAP_ATOMIC,
        },
    .drift_per_mille = 1,
    .watched = true,
    .open = open_state,
    .close = close_state,
    .check = check,
    .try_acquire = try_acquire,
    .renew = renew,
    .release = release,
    .watch = watch,
    .sleep = sleep_until,
    .unwatch = unwatch,
};
