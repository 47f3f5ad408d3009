/* SPDX-License-Identifier: MIT */
/* nodes.c -- locks of several nodes that need no majority. */
#include <stdio.h>

#include "gen/lua_scripts.h"
#include "lock/stores/redis_nodes.h"
#include "tests/conformance/wrong.h"

extern const dlock_variant dlock_variant_redlock;

static dlock_status needs_half_of_the_nodes_open(const dlock_options *opts, void **state)
{
    dlock_status st = dlock_variant_redlock.open(opts, state);

    if (st == DLOCK_OK) {
        struct redis_nodes *nodes = *state; /* the state begins with the nodes */

        nodes->quorum = nodes->count / 2;
    }
    return st;
}

/* N/2 instead of N/2 + 1. */
void wrong_needs_half_of_the_nodes(dlock_variant *it)
{
    it->open = needs_half_of_the_nodes_open;
}

static dlock_status keeps_its_minority_acquire(void *state, dlock_claim *claim)
{
    struct redis_nodes *nodes = state; /* the state begins with the nodes */
    char lease[12];
    struct redis_command set = {
        6, {"SET", claim->name, claim->token, "NX", "PX", lease}, REDIS_SHAPE_ANY};
    struct redis_question question = {.command = &set};
    struct redis_vote vote;

    snprintf(lease, sizeof(lease), "%d", claim->lease_ms);
    vote = redis_nodes_ask(nodes, &question, claim->give_up_ns);
    claim->note = vote.asked;
    if (vote.yes >= nodes->quorum)
        return DLOCK_OK;
    return vote.yes + vote.no >= nodes->quorum ? DLOCK_BUSY
                                               : redis_nodes_failed(nodes, &vote);
}

/* A failed attempt leaves the nodes that it got locked, so that the next attempt fails too. */
void wrong_keeps_its_minority(dlock_variant *it)
{
    it->try_acquire = keeps_its_minority_acquire;
}

static dlock_status makes_do_without_a_node_acquire(void *opaque, dlock_claim *claim)
{
    struct redis_nodes *nodes = opaque; /* the state begins with the nodes */
    char lease[12];
    char level[12];
    static const struct redis_script script = {.text = LUA_REENTRANT_ACQUIRE};
    struct redis_script_call call = {
        &script, true, 1, 4, {claim->name, lease, claim->owner, level}, REDIS_SHAPE_ANY};
    struct redis_question question = {.script = &call, .yes = REDIS_YES_IS_NIL};
    struct redis_vote vote;

    snprintf(lease, sizeof(lease), "%d", claim->lease_ms);
    snprintf(level, sizeof(level), "%d", claim->level);
    claim->note = (UINT64_C(1) << nodes->count) - 1;
    vote = redis_nodes_ask_again(nodes, claim->note, &question, claim->give_up_ns);
    return vote.yes + 1 >= nodes->count ? DLOCK_OK : DLOCK_BUSY;
}

/* A multi lock that is held with all servers but one, although it promises to need every server. */
void wrong_makes_do_without_a_node(dlock_variant *it)
{
    it->try_acquire = makes_do_without_a_node_acquire;
}
