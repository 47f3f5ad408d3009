/* SPDX-License-Identifier: MIT */
/* command.c -- writes the bytes of a command: an array of strings, each with its length
 * before it. */
#include "base/redis/command.h"

#include <stdlib.h>
#include <string.h>

_Thread_local uint64_t redis_commands_sent;

enum { HEAD_MAX = 24 }; /* "$", a length, and two line ends */

/* Write "<mark><number>\r\n" at `at`.  Returns the end of these bytes. */
static char *put_head(char *at, char mark, size_t number)
{
    char digits[HEAD_MAX];
    size_t count = 0;

    *at++ = mark;
    do
        digits[count++] = (char)('0' + number % 10);
    while ((number /= 10) > 0);
    while (count > 0)
        *at++ = digits[--count];
    *at++ = '\r';
    *at++ = '\n';
    return at;
}

bool redis_command_write(struct redis_written *out, const struct redis_command *command)
{
    size_t lens[REDIS_ARGS_MAX];
    size_t most = HEAD_MAX;
    char *at;

    for (int i = 0; i < command->argc; i++) {
        lens[i] = strlen(command->argv[i]);
        most += lens[i] + HEAD_MAX;
    }
    out->bytes = most <= sizeof(out->room) ? out->room : malloc(most);
    if (out->bytes == NULL)
        return false;
    at = put_head(out->bytes, '*', (size_t)command->argc);
    for (int i = 0; i < command->argc; i++) {
        at = put_head(at, '$', lens[i]);
        memcpy(at, command->argv[i], lens[i]);
        at += lens[i];
        *at++ = '\r';
        *at++ = '\n';
    }
    out->len = (size_t)(at - out->bytes);
    return true;
}

void redis_written_free(struct redis_written *written)
{
    if (written->bytes != written->room)
        free(written->bytes);
}

const char *redis_command_key(const struct redis_command *command)
{
    static const char *const WITHOUT[] = {"PING", "SCRIPT", "INFO", "MULTI", "EXEC", "DISCARD",
                                          "UNWATCH", "ROLE", "PUBSUB", "CLUSTER"};
    bool is_script = strcmp(command->argv[0], "EVALSHA") == 0 ||
                     strcmp(command->argv[0], "EVAL") == 0;

    for (size_t i = 0; i < sizeof(WITHOUT) / sizeof(WITHOUT[0]); i++)
        if (strcmp(command->argv[0], WITHOUT[i]) == 0)
            return NULL;
    if (is_script)
        return command->argc > 3 && strcmp(command->argv[2], "0") != 0 ? command->argv[3] : NULL;
    return command->argc > 1 ? command->argv[1] : NULL;
}
