/* SPDX-License-Identifier: MIT */
/* redis_rights.c -- asks for the rights of the user, by rights.lua. */
#include "lock/stores/redis_rights.h"

#include <stdio.h>
#include <string.h>

#include "gen/lua_scripts.h"
#include "lock/dlock_variant.h"

enum { COMMANDS_SIZE = 512 };

/* Add the command at the beginning of `at`, which ends with a quote, unless it is there. */
static void add_command(char commands[COMMANDS_SIZE], const char *at)
{
    size_t used = strlen(commands);
    char command[32];

    snprintf(command, sizeof(command), " %.*s ", (int)strcspn(at, "'"), at);
    if (strstr(commands, command) == NULL)
        snprintf(commands + used, COMMANDS_SIZE - used, "%s", command + 1);
}

dlock_status redis_rights_check(struct redis_link *link, const char *commands,
                                const struct redis_script *const *scripts, size_t count)
{
    static const struct redis_script RIGHTS = {.text = LUA_RIGHTS};
    static const char CALL[] = "redis.call('";
    char asked[COMMANDS_SIZE];
    struct redis_script_call call = {&RIGHTS, true, 0, 1, {asked}, REDIS_SHAPE_TEXT};
    struct redis_leg leg = {.link = link, .despite_failure = true};
    dlock_status st;

    snprintf(asked, sizeof(asked), " EVALSHA %s%s", commands, commands[0] != '\0' ? " " : "");
    for (size_t i = 0; i < count; i++)
        for (const char *at = scripts[i]->text; (at = strstr(at, CALL)) != NULL;) {
            at += sizeof(CALL) - 1;
            add_command(asked, at);
        }
    redis_script_exchange(&leg, 1, &call, INT64_MAX);
    st = redis_status(leg.answer.outcome);
    if (st != DLOCK_OK)
        return dlock_fail(st == DLOCK_UNKNOWN ? DLOCK_IO : st, "%s", leg.answer.text);
    if (leg.answer.kind == REDIS_NIL || leg.answer.len == 0)
        return DLOCK_OK;
    return dlock_fail(DLOCK_PROTOCOL, "%s: the user has no right to %s", redis_link_label(link),
                      leg.answer.text);
}
