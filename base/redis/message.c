/* SPDX-License-Identifier: MIT */
/* message.c -- parses the messages of a server to a subscriber. */
#include "base/redis/message.h"

#include <string.h>

#include "base/redis/reader.h"

void redis_message_part(void *arg, const struct redis_part *part)
{
    struct redis_message *message = arg;

    if (part->kind == REDIS_PART_ERROR && part->depth == 0)
        message->is_error = true;
    if (part->kind != REDIS_PART_BULK || part->depth != 1 ||
        part->index >= REDIS_MESSAGE_PARTS || part->len >= REDIS_MESSAGE_PART_SIZE ||
        memchr(part->text, '\0', part->len) != NULL)
        return;
    memcpy(message->texts[part->index], part->text, part->len);
    message->texts[part->index][part->len] = '\0';
    message->parts[part->index] = message->texts[part->index];
}

void redis_message_clear(struct redis_message *message)
{
    memset(message->parts, 0, sizeof(message->parts));
    message->is_error = false;
}
