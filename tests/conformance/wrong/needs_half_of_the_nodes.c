/* SPDX-License-Identifier: MIT */
/* needs_half_of_the_nodes.c -- N/2 instead of N/2 + 1. */
#include "lock/stores/redis_nodes.h"
#include "tests/conformance/wrong.h"

extern const dlock_variant dlock_variant_redlock;

static dlock_status open_state(const dlock_options *opts, void **state)
{
    dlock_status st = dlock_variant_redlock.open(opts, state);

    if (st == DLOCK_OK) {
        struct redis_nodes *nodes = *state; /* the state begins with the nodes */

        nodes->quorum = nodes->count / 2;
    }
    return st;
}

void wrong_needs_half_of_the_nodes(dlock_variant *it)
{
    it->open = open_state;
}
