/* SPDX-License-Identifier: MIT */
/* redlock.c -- the lock of a majority of independent Redis servers.
 *
 * Promises    one holder, also while a minority of the nodes is dead or hung; the
 *             watchdog renews the lease while it works.
 * Breaks      when the whole process stops for longer than the lease and then goes on
 *             writing; when a node restarts empty; when a node's clock jumps.
 * Described   the articles' Redlock chapters, after antirez' specification.
 *
 * A grant needs a majority, and time left: the core takes the lease from the instant
 * before the first node was asked, less drift (1% and 2 ms).  A failed attempt is taken
 * back on every node that was asked, also where no answer came: the request may have
 * arrived.  If a node that had granted does not answer the release, the attempt answers
 * UNKNOWN.  A node that answered neither the attempt nor the release changes no answer,
 * because a hung minority must not disturb the lock.  claim->note is the set of nodes
 * that were asked. */
#include <stdio.h>
#include <stdlib.h>

#include "gen/lua_scripts.h"
#include "lock/dlock_variant.h"
#include "lock/stores/redis_inspect.h"

struct state {
    struct redis_nodes nodes;
    struct redis_script release;
    struct redis_script renew;
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
    const struct redis_script *const scripts[] = {&state->release, &state->renew};

    return redis_nodes_check(&state->nodes, (struct redis_rights){"SET", 2, scripts, ""});
}

static dlock_status open_state(const dlock_options *opts, void **out)
{
    struct state *state = calloc(1, sizeof(*state));
    dlock_status st;

    if (state == NULL)
        return dlock_fail(DLOCK_NOMEM, "no memory for the variant");
    state->release.text = LUA_TOKEN_RELEASE;
    state->renew.text = LUA_TOKEN_RENEW;
    st = redis_nodes_open(&state->nodes, opts->redlock_urls,
                          opts->redlock_node_timeout_ms, opts->redlock_sequential);
    if (st == DLOCK_OK)
        st = check(state);
    if (st == DLOCK_OK)
        st = redis_nodes_load(&state->nodes, &state->release);
    if (st == DLOCK_OK)
        st = redis_nodes_load(&state->nodes, &state->renew);
    if (st != DLOCK_OK) {
        close_state(state);
        return st;
    }
    *out = state;
    return DLOCK_OK;
}

/* OK if a majority did it; LOST if so many did not that no majority is possible. */
static dlock_status verdict(const struct state *state, const struct redis_vote *vote)
{
    if (vote->yes >= state->nodes.quorum)
        return DLOCK_OK;
    if (vote->yes + vote->failed < state->nodes.quorum)
        return DLOCK_LOST;
    return redis_nodes_failed(&state->nodes, vote);
}

/* Release the lock on every node that was asked for it. */
static struct redis_vote give_back(struct state *state, const dlock_claim *claim)
{
    /* Sent as text: a hung node may execute it later.  If it did not know the hash
     * then, the release would be lost, because no client would be there to send the
     * text. */
    struct redis_script_call call = {
        &state->release, true, 1, 2, {claim->name, claim->token},
        REDIS_SHAPE_YES_NO};
    struct redis_question question = {.script = &call};

    /* The caller's deadline does not apply here, because the nodes that granted have to
     * be released. */
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
        &state->renew, false, 1, 3, {claim->name, claim->token, lease},
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
    char lease[12];
    struct redis_command set = {
        6, {"SET", claim->name, claim->token, "NX", "PX", lease}, REDIS_SHAPE_SET};
    struct redis_question question = {.command = &set};
    struct redis_vote vote;
    struct redis_vote released;
    bool answered;
    dlock_status st;

    snprintf(lease, sizeof(lease), "%d", claim->lease_ms);
    vote = redis_nodes_ask(&state->nodes, &question, claim->give_up_ns);
    claim->note = vote.asked;
    if (vote.yes >= state->nodes.quorum)
        return DLOCK_OK;
    /* A majority answered, so the lock works, and this attempt was only refused. */
    answered = vote.yes + vote.no >= state->nodes.quorum;
    st = answered ? DLOCK_BUSY : redis_nodes_failed(&state->nodes, &vote);
    if (st == DLOCK_UNKNOWN || st == DLOCK_PROTOCOL)
        return st; /* the core releases the lock */
    if (vote.yes + vote.unknown == 0)
        return st; /* no node has the lock */
    released = give_back(state, claim);
    return redis_nodes_taken_back(vote.agreed, &released, st);
}

static dlock_status inspect(void *opaque, const char *name, dlock_info *out)
{
    struct state *state = opaque;
    struct redis_script_call call = redis_string_call(name);

    return redis_nodes_inspect(&state->nodes, &call, REDIS_OWNER_OF_ALL, out);
}

static dlock_status force(void *opaque, const char *name)
{
    struct state *state = opaque;
    struct redis_script_call call = redis_string_force_call(name);
    struct redis_question question = {.script = &call};

    return redis_nodes_force(&state->nodes, &question);
}

extern const dlock_variant dlock_variant_redlock;

const dlock_variant dlock_variant_redlock = {
    .info =
        {
            .name = "redlock",
            .store = "redis x5",
            .promises = "one holder, also with a minority of nodes down; renewed",
            .breaks = "a process that stops beyond its lease; nodes that lose their data; "
                      "clocks that jump",
            .source = "the articles' Redlock",
            .caps = DLOCK_CAP_EXCLUSIVE | DLOCK_CAP_LOCAL | DLOCK_CAP_EXPIRES |
                    DLOCK_CAP_OWNED | DLOCK_CAP_RENEW | DLOCK_CAP_QUORUM |
                    DLOCK_CAP_ATOMIC,
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
