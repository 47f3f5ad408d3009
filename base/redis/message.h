/* SPDX-License-Identifier: MIT */
/* message.h -- what a server says to one who listens: "message", "subscribe" or
 * "unsubscribe", a channel, and a text.
 *
 * Threads     A value. */
#ifndef DLOCK_REDIS_MESSAGE_H
#define DLOCK_REDIS_MESSAGE_H

#include <stdbool.h>

enum { REDIS_MESSAGE_PARTS = 3, REDIS_MESSAGE_PART_SIZE = 320 };

/* Where hiredis' reader puts what it reads, once bound: no memory is taken for a reply,
 * whatever a server says of its length.  It stays in place as long as the reader. */
struct redis_message {
    /* NULL: no such part, or not a text, or one that is too long or has a NUL in it. */
    const char *parts[REDIS_MESSAGE_PARTS];
    char texts[REDIS_MESSAGE_PARTS][REDIS_MESSAGE_PART_SIZE];
};

struct redisReader;

void redis_message_bind(struct redis_message *message, struct redisReader *reader);

/* It was looked at: be ready for the next. */
void redis_message_clear(struct redis_message *message);

#endif /* DLOCK_REDIS_MESSAGE_H */
