/* SPDX-License-Identifier: MIT */
/* lua.c -- SET NX PX with a random token, released by a compare-and-delete script.
 *
 * Promises    one holder while work ends within the lease; never frees another's lock.
 * Breaks      when work outlives the lease, because the watchdog does not renew it and
 *             only the holder's dlock_renew() does: then there are two holders.
 * Described   the articles' third lock in Redis, where check and delete become one
 *             step.  The key has the form of the Lock of redis-py. */
#include <stdio.h>
#include <stdlib.h>

#include "gen/lua_scripts.h"
#include "lock/stores/redis_inspect.h"
#include "lock/stores/redis_rights.h"

struct state {
    struct redis_link *link;
    struct redis_script release;
    struct redis_script renew;
};

static void close_state(void *opaque)
{
    struct state *state = opaque;

    redis_link_close(state->link);
    free(state);
}

static dlock_status lua_check_rights(const struct state *state)
{
    const struct redis_script *const scripts[] = {&state->release, &state->renew};

    return redis_rights_check(state->link, (struct redis_rights){"SET", 2, scripts, ""});
}

static dlock_status open_state(const dlock_options *opts, void **out)
{
    struct state *state = calloc(1, sizeof(*state));
    dlock_status st;

    if (state == NULL)
        return dlock_fail(DLOCK_NOMEM, "no memory for the variant");
    state->release.text = LUA_TOKEN_RELEASE;
    state->renew.text = LUA_TOKEN_RENEW;
    st = redis_single_open(opts, NULL, &state->link);
    if (st == DLOCK_OK)
        st = redis_script_load(state->link, &state->release);
    if (st == DLOCK_OK)
        st = redis_script_load(state->link, &state->renew);
    if (st == DLOCK_OK)
        st = lua_check_rights(state);
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

    dlock_status st = redis_ping(state->link);

    return st == DLOCK_OK ? lua_check_rights(state) : st;
}

static uint64_t era(void *opaque, const char *name)
{
    const struct state *state = opaque;

    return redis_link_key_era(state->link, name);
}

static dlock_status try_acquire(void *opaque, dlock_claim *claim)
{
    const struct state *state = opaque;

    return redis_set_if_absent(state->link, claim->name, claim->token, claim->lease_ms);
}

static dlock_status renew(void *opaque, const dlock_claim *claim)
{
    const struct state *state = opaque;
    char lease[12];
    struct redis_script_call call = {
        &state->renew, false, 1, 3, {claim->name, claim->token, lease},
        REDIS_SHAPE_YES_NO};

    snprintf(lease, sizeof(lease), "%d", claim->lease_ms);
    return redis_script_extend(state->link, &call, claim->give_up_ns);
}

static dlock_status release(void *opaque, const dlock_claim *claim)
{
    const struct state *state = opaque;
    struct redis_script_call call = {
        &state->release, false, 1, 2, {claim->name, claim->token},
        REDIS_SHAPE_YES_NO};

    return claim->post != NULL
               ? redis_script_leave(state->link, &call, claim->post)
               : redis_script_ask(state->link, &call, claim->give_up_ns);
}

static bool send_queued(void *opaque)
{
    const struct state *state = opaque;

    return redis_link_push(state->link);
}

static dlock_status inspect(void *opaque, const char *name, dlock_info *out)
{
    const struct state *state = opaque;

    return redis_string_inspect(state->link, name, out);
}

static dlock_status force(void *opaque, const char *name)
{
    const struct state *state = opaque;

    return redis_string_force(state->link, name);
}

extern const dlock_variant dlock_variant_lua;

const dlock_variant dlock_variant_lua = {
    .info =
        {
            .name = "lua",
            .store = "redis",
            .promises = "one holder while work ends in its lease; frees only its own",
            .breaks = "work that outlives the lease: no watchdog renews it",
            .source = "the articles' compare-and-delete script",
            .caps = DLOCK_CAP_EXCLUSIVE | DLOCK_CAP_LOCAL | DLOCK_CAP_EXPIRES |
                    DLOCK_CAP_ATOMIC | DLOCK_CAP_OWNED | DLOCK_CAP_RENEW,
        },
    .drift_per_mille = 1,
    .open = open_state,
    .close = close_state,
    .check = check,
    .era = era,
    .try_acquire = try_acquire,
    .renew = renew,
    .release = release,
    .read_release = redis_read_yes_no,
    .send_queued = send_queued,
    .inspect = inspect,
    .force = force,
};
