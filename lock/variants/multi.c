/* SPDX-License-Identifier: MIT */
/* multi.c -- Redisson's MultiLock: the lock of reentrant on every one of N servers.
 *
 * Promises    one holder as long as one server keeps its lock: a failover that loses
 *             the lock of one server lets no second holder in.  Renewed; may be locked
 *             again.
 * Breaks      as reentrant.  multi cannot be taken while any server is dead or hung:
 *             that is the price, which redlock avoids.
 * Described   the articles' MultiLock chapters; each part is a Redisson lock.
 *
 * If an attempt did not get the lock on every server, it gives back those that it got.
 * If one of these does not answer the release, the attempt answers UNKNOWN.
 * The first server is asked alone: of many clients that come at once, only the one that
 * gets the first server asks the others, so the clients do not block each other for
 * ever.  claim->note is the set of servers that were asked. */
#include <stdio.h>
#include <stdlib.h>

#include "gen/lua_scripts.h"
#include "lock/stores/redis_nodes.h"
#include "lock/stores/redisson.h"

#define FIRST UINT64_C(1)

struct state {
    struct redis_nodes nodes;
    struct redis_script acquire;
    struct redis_script renew;
    struct redis_script release;
};

static void close_state(void *opaque)
{
    struct state *state = opaque;

    redis_nodes_close(&state->nodes);
    free(state);
}

static dlock_status check(void *opaque)
{
    struct state *state = opaque;
    const struct redis_script *const scripts[] = {&state->acquire, &state->renew, &state->release};

    return redis_nodes_check(&state->nodes, (struct redis_rights){"", 3, scripts, ""});
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
    /* The lock needs every server, so the answer of each one is waited for. */
    st = redis_nodes_open(&state->nodes, opts->redlock_urls, opts->redis_timeout_ms,
                          opts->redlock_sequential);
    state->nodes.quorum = state->nodes.count; /* every server has to grant */
    if (st == DLOCK_OK)
        st = check(state);
    if (st == DLOCK_OK)
        st = redis_nodes_load(&state->nodes, &state->acquire);
    if (st == DLOCK_OK)
        st = redis_nodes_load(&state->nodes, &state->renew);
    if (st == DLOCK_OK)
        st = redis_nodes_load(&state->nodes, &state->release);
    if (st != DLOCK_OK) {
        close_state(state);
        return st;
    }
    *out = state;
    return DLOCK_OK;
}

/* OK if every asked server did it; LOST if one server did not have the lock. */
static dlock_status verdict(const struct state *state, const struct redis_vote *vote)
{
    if (vote->no > 0)
        return DLOCK_LOST;
    return vote->failed > 0 ? redis_nodes_failed(&state->nodes, vote) : DLOCK_OK;
}

/* Release the lock on every server that was asked for it. */
static struct redis_vote give_back(struct state *state, const dlock_claim *claim)
{
    char channel[REDISSON_NAME_SIZE];
    char lease[12];
    char level[12];
    /* Sent as text, as in redlock: a hung server may execute it later, when no client
     * is there to send the text. */
    struct redis_script_call call = {
        &state->release,
        true,
        1,
        6,
        {claim->name, claim->owner, level, lease, REDISSON_FREED, channel},
        redisson_release_shape(claim)};
    struct redis_question question = {.script = &call, .yes = REDIS_YES_IS_INTEGER};

    redisson_name(REDISSON_CHANNEL, claim->name, channel);
    snprintf(lease, sizeof(lease), "%d", claim->lease_ms);
    snprintf(level, sizeof(level), "%d", claim->level);
    return redis_nodes_ask_again(&state->nodes, claim->note, &question, INT64_MAX);
}

static dlock_status release(void *opaque, const dlock_claim *claim)
{
    struct state *state = opaque;
    struct redis_vote vote = give_back(state, claim);

    redis_vote_works_once(&vote);
    return verdict(state, &vote);
}

static dlock_status renew(void *opaque, const dlock_claim *claim)
{
    struct state *state = opaque;
    char lease[12];
    struct redis_script_call call = {
        &state->renew, false, 1, 3, {claim->name, lease, claim->owner},
        REDIS_SHAPE_YES_NO};
    struct redis_question question = {.script = &call};
    struct redis_vote vote;

    snprintf(lease, sizeof(lease), "%d", claim->lease_ms);
    vote = redis_nodes_ask_again(&state->nodes, claim->note, &question,
                                 claim->give_up_ns);
    return verdict(state, &vote);
}

static dlock_status try_acquire(void *opaque, dlock_claim *claim)
{
    struct state *state = opaque;
    uint64_t all = (FIRST << state->nodes.count) - 1;
    char lease[12];
    char level[12];
    struct redis_script_call call = {
        &state->acquire, false, 1, 4, {claim->name, lease, claim->owner, level},
        redisson_acquire_shape(claim)};
    struct redis_question question = {.script = &call, .yes = REDIS_YES_IS_NIL};
    struct redis_vote vote;
    struct redis_vote released;
    uint64_t granted;
    dlock_status st;

    snprintf(lease, sizeof(lease), "%d", claim->lease_ms);
    snprintf(level, sizeof(level), "%d", claim->level);
    claim->note = FIRST;
    vote = redis_nodes_ask_again(&state->nodes, FIRST, &question, claim->give_up_ns);
    granted = vote.agreed;
    if (vote.yes == 1 && all != FIRST) {
        claim->note = all;
        vote = redis_nodes_ask_again(&state->nodes, all & ~FIRST, &question,
                                     claim->give_up_ns);
        granted |= vote.agreed;
    }
    st = vote.failed > 0 ? redis_nodes_failed(&state->nodes, &vote)
                         : verdict(state, &vote);
    if (st == DLOCK_LOST && claim->level == 1)
        st = DLOCK_BUSY;
    if (st == DLOCK_OK || granted == 0)
        return st;
    if (st == DLOCK_UNKNOWN || st == DLOCK_PROTOCOL)
        return st; /* the core releases the lock */
    released = give_back(state, claim);
    return redis_nodes_taken_back(granted, &released, st);
}

/* The holder is the owner that has a majority, because one server may have lost its
 * lock.  A program with Redisson has another owner on each server, so these cannot be
 * recognised as one holder.  Therefore a lock that is held on every server counts as
 * locked too, and `owner` is that of the first server.  If one server has lost the lock
 * of such a program, the lock is shown as free although no client can get it. */
static dlock_status inspect(void *opaque, const char *name, dlock_info *out)
{
    struct state *state = opaque;
    struct redisson_keys keys;
    struct redis_script_call call = redisson_inspect_call(name, "channel", "", &keys);

    return redis_nodes_inspect(&state->nodes, &call, REDIS_OWNER_OF_EACH, out);
}

/* Free the lock on every server, because one server that keeps it would block all
 * clients. */
static dlock_status force(void *opaque, const char *name)
{
    struct state *state = opaque;
    char channel[REDISSON_NAME_SIZE];
    struct redisson_keys keys;
    struct redis_script_call call;
    struct redis_question question = {.script = &call};

    redisson_name(REDISSON_CHANNEL, name, channel);
    call = redisson_force_call(name, "channel", channel, &keys);
    return redis_nodes_force(&state->nodes, &question);
}

extern const dlock_variant dlock_variant_multi;

const dlock_variant dlock_variant_multi = {
    .info =
        {
            .name = "multi",
            .store = "redis x5",
            .promises = "one holder, also when all servers but one lose their locks",
            .breaks = "a process that stops beyond its lease; no grant while one node is down",
            .source = "the articles' Redisson MultiLock",
            .caps = DLOCK_CAP_EXCLUSIVE | DLOCK_CAP_LOCAL | DLOCK_CAP_EXPIRES |
                    DLOCK_CAP_ATOMIC | DLOCK_CAP_OWNED | DLOCK_CAP_RENEW |
                    DLOCK_CAP_REENTRANT,
        },
    .drift_per_mille = 10,
    .watched = true,
    .open = open_state,
    .close = close_state,
    .check = check,
    .try_acquire = try_acquire,
    .renew = renew,
    .release = release,
    .inspect = inspect,
    .force = force,
};
