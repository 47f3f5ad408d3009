/* SPDX-License-Identifier: MIT */
/* renews_over_one_connection.c -- a connection for renewals that is not opened again after it was
 * closed, as in redisson #2515. */
#include <stdio.h>

#include "gen/lua_scripts.h"
#include "lock/stores/redisson.h"
#include "tests/conformance/wrong.h"

static struct redis_talk talk;

static dlock_status renew(void *opaque, const dlock_claim *claim)
{
    const struct redisson_lock *lock = opaque;
    char lease[12];
    struct redis_command eval = {
        6, {"EVAL", LUA_REENTRANT_RENEW, "1", claim->name, lease, claim->owner}, REDIS_SHAPE_ANY};
    struct redis_answer answer;
    dlock_status st;

    snprintf(lease, sizeof(lease), "%d", claim->lease_ms);
    talk.link = lock->link;
    st = redis_talk_say(&talk, &eval, claim->give_up_ns, &answer);
    return st == DLOCK_OK && answer.integer == 0 ? DLOCK_LOST : st;
}

static void close_state(void *lock)
{
    redis_talk_end(&talk, false);
    redisson_close(lock);
}

void wrong_renews_over_one_connection(dlock_variant *it)
{
    it->renew = renew;
    it->close = close_state;
}
