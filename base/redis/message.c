/* SPDX-License-Identifier: MIT */
/* message.c -- what a server says to one who listens. */
#include "base/redis/message.h"

#include <hiredis/hiredis.h>
#include <string.h>

static void *read_part(const redisReadTask *task, char *text, size_t len)
{
    struct redis_message *message = task->privdata;
    const redisReadTask *array = task->parent;

    if (task->type != REDIS_REPLY_STRING || array == NULL || array->parent != NULL ||
        array->type != REDIS_REPLY_ARRAY || task->idx >= REDIS_MESSAGE_PARTS ||
        len >= REDIS_MESSAGE_PART_SIZE || memchr(text, '\0', len) != NULL)
        return message;
    memcpy(message->texts[task->idx], text, len);
    message->texts[task->idx][len] = '\0';
    message->parts[task->idx] = message->texts[task->idx];
    return message;
}

static redisReplyObjectFunctions functions = {.createString = read_part};

void redis_message_clear(struct redis_message *message)
{
    memset(message->parts, 0, sizeof(message->parts));
}

void redis_message_bind(struct redis_message *message, struct redisReader *reader)
{
    redis_message_clear(message);
    reader->fn = &functions;
    reader->privdata = message;
}
