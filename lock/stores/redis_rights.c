/* SPDX-License-Identifier: MIT */
/* redis_rights.c -- asks for the rights of the user, by rights.lua. */
#include "lock/stores/redis_rights.h"

#include <stdio.h>
#include <string.h>

#include "gen/lua_scripts.h"
#include "lock/dlock_variant.h"

/* Add the command at the beginning of `at`, which ends with a quote, unless it is there. */
static void add_command(char commands[REDIS_RIGHTS_SIZE], const char *at)
{
    size_t used = strlen(commands);
    char command[32];

    snprintf(command, sizeof(command), " %.*s ", (int)strcspn(at, "'"), at);
    if (strstr(commands, command) == NULL)
        snprintf(commands + used, REDIS_RIGHTS_SIZE - used, "%s", command + 1);
}

struct redis_script_call redis_rights_call(struct redis_rights *rights)
{
    static const struct redis_script RIGHTS = {.text = LUA_RIGHTS};
    static const char CALL[] = "redis.call('";

    snprintf(rights->asked, sizeof(rights->asked), " %s%s%s",
             rights->script_count > 0 ? "EVALSHA " : "", rights->commands,
             rights->commands[0] != '\0' ? " " : "");
    for (size_t i = 0; i < rights->script_count; i++)
        for (const char *at = rights->scripts[i]->text; (at = strstr(at, CALL)) != NULL;) {
            at += sizeof(CALL) - 1;
            add_command(rights->asked, at);
        }
    return (struct redis_script_call){&RIGHTS, true, 0, 1, {rights->asked}, REDIS_SHAPE_YES_NO};
}

dlock_status redis_rights_check(struct redis_link *link, struct redis_rights rights)
{
    struct redis_script_call call = redis_rights_call(&rights);
    struct redis_leg leg = {.link = link, .despite_failure = true};
    dlock_status st;

    if (redis_link_replicas_needed(link) > 0)
        add_command(rights.asked, "WAIT'");
    redis_script_exchange(&leg, 1, &call, INT64_MAX);
    st = redis_status(leg.answer.outcome);
    if (st != DLOCK_OK)
        return dlock_fail(st == DLOCK_UNKNOWN ? DLOCK_IO : st, "%s", leg.answer.text);
    return DLOCK_OK;
}
