/* SPDX-License-Identifier: MIT */
/* lua_local.c -- as lua, with a lease of 100 ms and a re-entry flag in the process.
 *
 * Promises    one holder while work ends within 100 ms; never frees another's lock; a
 *             thread that locks again gets the lock.
 * Breaks      when work outlives the lease, which is short.  And by its flag: the fact
 *             that a thread holds the lock is kept in the process and not in Redis, so
 *             it still counts after the lease has ended and another owner has the lock.
 *             Inner levels do not hold the lock: the release of the outer level frees
 *             it.
 * Described   the articles' Java class around SET NX PX 100.
 *
 * In that class one field has the last thread that got any lock, and no unlock clears
 * the field.  This variant has a flag for each thread and name, which the release
 * clears, so that the only flaw is a flag that outlives the lease. claim->note is INNER
 * if only the flag let the claim in. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/os/hash_table.h"
#include "base/os/mutex.h"
#include "gen/lua_scripts.h"
#include "lock/stores/redis_inspect.h"
#include "lock/stores/redis_rights.h"

enum { LEASE_MS = 100, OUTER = 0, INNER = 1, FLAG_SIZE = 24 + DLOCK_NAME_MAX };

/* The flag of a thread that has locked a name. */
struct flag {
    char key[FLAG_SIZE]; /* "number name" */
    char token[DLOCK_TOKEN_LEN + 1];
    UT_hash_handle hh;
};

struct state {
    struct redis_link *link;
    struct redis_script release;
    struct dlock_mutex mutex; /* protects the flags */
    struct flag *flags;
};

static void close_state(void *opaque)
{
    struct state *state = opaque;
    struct flag *flag;
    struct flag *next;

    HASH_ITER (hh, state->flags, flag, next) {
        HASH_DEL(state->flags, flag);
        free(flag);
    }
    dlock_mutex_destroy(&state->mutex);
    redis_link_close(state->link);
    free(state);
}

static dlock_status lua_local_check_rights(const struct state *state)
{
    const struct redis_script *const scripts[] = {&state->release};

    return redis_rights_check(state->link, (struct redis_rights){"SET", 1, scripts, ""});
}

static dlock_status open_state(const dlock_options *opts, void **out)
{
    struct state *state = calloc(1, sizeof(*state));
    dlock_status st;

    if (state == NULL)
        return dlock_fail(DLOCK_NOMEM, "no memory for the variant");
    dlock_mutex_init(&state->mutex);
    state->release.text = LUA_TOKEN_RELEASE;
    st = redis_single_open(opts, NULL, &state->link);
    if (st == DLOCK_OK)
        st = redis_script_load(state->link, &state->release);
    if (st == DLOCK_OK)
        st = lua_local_check_rights(state);
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

    return st == DLOCK_OK ? lua_local_check_rights(state) : st;
}

static uint64_t era(void *opaque, const char *name)
{
    const struct state *state = opaque;

    return redis_link_key_era(state->link, name);
}

/* Lock the mutex, and find the flag of the claim's thread and name; NULL: not
 * raised. */
static struct flag *lock_flag(struct state *state, const dlock_claim *claim,
                              char key[FLAG_SIZE])
{
    struct flag *flag = NULL;

    snprintf(key, FLAG_SIZE, "%s %s", claim->number, claim->name);
    dlock_mutex_lock(&state->mutex);
    HASH_FIND_STR(state->flags, key, flag);
    return flag;
}

static bool is_raised(struct state *state, const dlock_claim *claim)
{
    char key[FLAG_SIZE];
    bool raised = lock_flag(state, claim, key) != NULL;

    dlock_mutex_unlock(&state->mutex);
    return raised;
}

/* Raise the flag for this grant, also if an earlier grant's flag is still raised.
 * False: no memory. */
static bool raise_flag(struct state *state, const dlock_claim *claim)
{
    char key[FLAG_SIZE];
    struct flag *flag = lock_flag(state, claim, key);

    if (flag == NULL) {
        flag = calloc(1, sizeof(*flag));
        if (flag != NULL) {
            strcpy(flag->key, key);
            HASH_ADD_STR(state->flags, key, flag);
        }
    }
    if (flag != NULL)
        strcpy(flag->token, claim->token);
    dlock_mutex_unlock(&state->mutex);
    return flag != NULL;
}

/* Clear the flag if it is still that of this grant. */
static void clear_flag(struct state *state, const dlock_claim *claim)
{
    char key[FLAG_SIZE];
    struct flag *flag = lock_flag(state, claim, key);

    if (flag != NULL && strcmp(flag->token, claim->token) == 0) {
        HASH_DEL(state->flags, flag);
        free(flag);
    }
    dlock_mutex_unlock(&state->mutex);
}

static dlock_status release(void *opaque, const dlock_claim *claim)
{
    struct state *state = opaque;
    struct redis_script_call call = {
        &state->release, false, 1, 2, {claim->name, claim->token},
        REDIS_SHAPE_YES_NO};

    if (claim->note == INNER)
        return DLOCK_OK;
    clear_flag(state, claim);
    return redis_script_ask(state->link, &call, claim->give_up_ns);
}

static dlock_status try_acquire(void *opaque, dlock_claim *claim)
{
    struct state *state = opaque;
    dlock_status st = redis_set_if_absent(state->link, claim->name, claim->token,
                                          claim->lease_ms);

    claim->note = OUTER;
    if (st == DLOCK_BUSY && is_raised(state, claim)) {
        claim->note = INNER;
        return DLOCK_OK;
    }
    if (st == DLOCK_OK && !raise_flag(state, claim)) {
        (void)release(state, claim);
        return dlock_fail(DLOCK_NOMEM, "no memory for the flag");
    }
    return st;
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

extern const dlock_variant dlock_variant_lua_local;

const dlock_variant dlock_variant_lua_local = {
    .info =
        {
            .name = "lua-local",
            .store = "redis",
            .promises = "one holder while work ends in 100 ms; frees only its own",
            .breaks = "work of over 100 ms; its re-entry flag outlives the lease",
            .source = "the articles' Java lock with SET NX PX 100",
            .caps = DLOCK_CAP_EXCLUSIVE | DLOCK_CAP_LOCAL | DLOCK_CAP_EXPIRES |
                    DLOCK_CAP_ATOMIC | DLOCK_CAP_OWNED,
        },
    .drift_per_mille = 1,
    .lease_limit_ms = LEASE_MS,
    .open = open_state,
    .close = close_state,
    .check = check,
    .era = era,
    .try_acquire = try_acquire,
    .release = release,
    .inspect = inspect,
    .force = force,
};
