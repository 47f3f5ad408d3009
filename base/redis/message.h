/* SPDX-License-Identifier: MIT */
/* message.h -- a message of a server to a subscriber: "message", "subscribe" or
 * "unsubscribe", a channel, and a text.
 *
 * Threads     A value. */
#ifndef DLOCK_REDIS_MESSAGE_H
#define DLOCK_REDIS_MESSAGE_H

#include <stdbool.h>

enum { REDIS_MESSAGE_PARTS = 3, REDIS_MESSAGE_PART_SIZE = 320 };

/* A message that is being put together from its parts. */
struct redis_message {
    /* NULL: no such part, or not a text, or one that is too long or has a NUL in it. */
    const char *parts[REDIS_MESSAGE_PARTS];
    char texts[REDIS_MESSAGE_PARTS][REDIS_MESSAGE_PART_SIZE];
    bool is_error; /* no message, but the refusal of a command */
};

struct redis_part;

/* For a reader (reader.h), whose `arg` is the message. */
void redis_message_part(void *message, const struct redis_part *part);

/* Make the message empty, before the first and between two messages. */
void redis_message_clear(struct redis_message *message);

#endif /* DLOCK_REDIS_MESSAGE_H */
