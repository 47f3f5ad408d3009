/* SPDX-License-Identifier: MIT */
/* keeps_its_minority.c -- a failed attempt leaves the nodes that it got locked, so that the next
 * attempt fails too. */
#include <stdio.h>

#include "lock/stores/redis_nodes.h"
#include "tests/conformance/wrong.h"

static dlock_status try_acquire(void *state, dlock_claim *claim)
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

void wrong_keeps_its_minority(dlock_variant *it)
{
    it->try_acquire = try_acquire;
}
