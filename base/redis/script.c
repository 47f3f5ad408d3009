/* SPDX-License-Identifier: MIT */
/* script.c -- Lua scripts on Redis servers.
 *
 * The hash is the answer to SCRIPT LOAD, so it is not computed here. */
#include "base/redis/script.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>

#include "base/os/scratch.h"

enum { LEGS_MAX = 16 };

/* The command EVALSHA or EVAL with the arguments of `call`. */
static struct redis_command command_of(const struct redis_script_call *call,
                                       const char *verb, const char *what,
                                       const char *key_count)
{
    struct redis_command command = {.argc = call->argc + 3,
                                    .argv = {verb, what, key_count},
                                    .shape = call->shape};

    assert(command.argc <= REDIS_ARGS_MAX);
    memcpy(command.argv + 3, call->argv, (size_t)call->argc * sizeof(call->argv[0]));
    return command;
}

void redis_script_exchange(struct redis_leg *legs, size_t leg_count,
                           const struct redis_script_call *call, int64_t give_up_ns)
{
    DLOCK_SCRATCH struct redis_leg again[LEGS_MAX];
    size_t which[LEGS_MAX];
    size_t again_count = 0;
    char key_count[REDIS_KEY_COUNT_SIZE];
    const char *text;
    struct redis_command command;

    text = redis_link_script_text(legs[0].link, call->script->text);
    if (text == NULL) {
        for (size_t i = 0; i < leg_count; i++)
            redis_answer_fail(&legs[i].answer, REDIS_NO_MEMORY, "no memory for a script");
        return;
    }
    snprintf(key_count, sizeof(key_count), "%d", call->key_count);
    command = call->by_text ? command_of(call, "EVAL", text, key_count)
                            : command_of(call, "EVALSHA", call->script->sha, key_count);
    redis_exchange(legs, leg_count, &command, give_up_ns);
    for (size_t i = 0; i < leg_count; i++)
        if (legs[i].answer.lacks_script) {
            again[again_count] = legs[i];
            which[again_count++] = i;
        }
    if (again_count == 0)
        return;
    command = command_of(call, "EVAL", text, key_count);
    redis_exchange(again, again_count, &command, give_up_ns);
    for (size_t i = 0; i < again_count; i++)
        legs[which[i]].answer = again[i].answer;
}

bool redis_script_command(struct redis_link *link, const struct redis_script_call *call,
                          bool by_text, char key_count[REDIS_KEY_COUNT_SIZE],
                          struct redis_command *out)
{
    const char *text = redis_link_script_text(link, call->script->text);

    snprintf(key_count, REDIS_KEY_COUNT_SIZE, "%d", call->key_count);
    if (text != NULL)
        *out = by_text || call->by_text ? command_of(call, "EVAL", text, key_count)
                                        : command_of(call, "EVALSHA", call->script->sha, key_count);
    return text != NULL;
}

bool redis_script_post(struct redis_link *link, const struct redis_script_call *call,
                       struct redis_post *post)
{
    char key_count[REDIS_KEY_COUNT_SIZE];
    struct redis_command command;

    snprintf(key_count, sizeof(key_count), "%d", call->key_count);
    command = command_of(call, "EVALSHA", call->script->sha, key_count);
    return redis_link_post(link, &command, post);
}
