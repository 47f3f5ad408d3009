/* SPDX-License-Identifier: MIT */
/* wrong_plain.c -- a second implementation of `lua`, in which the wrong locks replace single
 * functions. */
#include <stdio.h>

#include "gen/lua_scripts.h"
#include "lock/stores/redis_inspect.h"
#include "tests/conformance/wrong.h"

static dlock_status open_state(const dlock_options *opts, void **state)
{
    return redis_single_open(opts, NULL, (struct redis_link **)state);
}

static void close_state(void *link)
{
    redis_link_close(link);
}

dlock_status wrong_plain_acquire(void *link, dlock_claim *claim)
{
    return redis_set_if_absent(link, claim->name, claim->token, claim->lease_ms);
}

static dlock_status renew(void *link, const dlock_claim *claim)
{
    return wrong_ask(link, LUA_TOKEN_RENEW, claim);
}

dlock_status wrong_plain_release(void *link, const dlock_claim *claim)
{
    return wrong_ask(link, LUA_TOKEN_RELEASE, claim);
}

void wrong_be_plain(dlock_variant *it)
{
    it->open = open_state;
    it->close = close_state;
    it->check = NULL;
    it->era = NULL;
    it->read_release = NULL;
    it->send_queued = NULL;
    it->inspect = redis_string_inspect;
    it->force = redis_string_force;
    it->try_acquire = wrong_plain_acquire;
    it->renew = it->renew != NULL ? renew : NULL;
    it->release = wrong_plain_release;
}

dlock_status wrong_eval(struct redis_link *link, const char *text,
                        const dlock_claim *claim, struct redis_answer *answer)
{
    char lease[12];
    char level[12];
    struct redis_command eval = {8,
                                 {"EVAL", text, "1", claim->name, claim->token, lease,
                                  claim->owner, level},
                                  REDIS_SHAPE_ANY};

    snprintf(lease, sizeof(lease), "%d", claim->lease_ms);
    snprintf(level, sizeof(level), "%d", claim->level);
    return redis_call(link, &eval, claim->give_up_ns, answer);
}

dlock_status wrong_ask(struct redis_link *link, const char *text,
                       const dlock_claim *claim)
{
    struct redis_answer answer;
    dlock_status st = wrong_eval(link, text, claim, &answer);

    if (st != DLOCK_OK)
        return st;
    return answer.kind == REDIS_INTEGER && answer.integer == 1 ? DLOCK_OK : DLOCK_LOST;
}
