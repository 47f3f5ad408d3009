/* SPDX-License-Identifier: MIT */
/* makes_do_without_a_node.c -- a multi lock that is held with all servers but one, although it
 * promises to need every server. */
#include <stdio.h>

#include "gen/lua_scripts.h"
#include "lock/stores/redis_nodes.h"
#include "tests/conformance/wrong.h"

static dlock_status try_acquire(void *opaque, dlock_claim *claim)
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

void wrong_makes_do_without_a_node(dlock_variant *it)
{
    it->try_acquire = try_acquire;
}
