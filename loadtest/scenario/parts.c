/* SPDX-License-Identifier: MIT */
/* parts.c -- steps that several scenarios share. */
#include "loadtest/scenario/scenario.h"

bool actor_walk_in(struct actor *late, struct actor *early)
{
    bool is_in = actor_try_until_answered(late) == DLOCK_OK;

    if (is_in)
        actor_buy(late);
    actor_buy(early);
    if (is_in)
        actor_release(late);
    actor_release(early);
    return is_in;
}
