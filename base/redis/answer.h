/* SPDX-License-Identifier: MIT */
/* answer.h -- the answer of a server to one command.
 *
 * Threads     A value. */
#ifndef DLOCK_REDIS_ANSWER_H
#define DLOCK_REDIS_ANSWER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/redis/outcome.h"

enum { REDIS_TEXT_SIZE = 256 };

enum redis_kind {
    REDIS_NIL,       /* no string                            */
    REDIS_NIL_ARRAY, /* no array: a transaction did nothing  */
    REDIS_INTEGER,
    REDIS_STATUS,    /* a line, such as OK                   */
    REDIS_BULK,      /* a string, of any bytes               */
    REDIS_SINGLE,    /* an array of one integer              */
    REDIS_OTHER,
};

/* The redirects that a node of a cluster answers instead of executing the command. */
enum redis_redirect {
    REDIS_NO_REDIRECT,
    REDIS_MOVED,        /* another node has the slot: the text names it */
    REDIS_ASK,          /* the slot moves to the node that the text names, and the key
                         * may be there already */
    REDIS_TRY_AGAIN,    /* the slot moves, and the keys of the command are on two
                         * nodes */
    REDIS_CLUSTER_DOWN, /* no node has the slot, or the cluster has no majority */
};

struct redis_answer {
    enum redis_outcome outcome; /* ANSWERED: the fields below hold; otherwise only text */
    enum redis_kind kind;
    int64_t integer;    /* of an INTEGER or SINGLE; of a BULK see shape.h */
    size_t len;         /* of a STATUS or BULK, as it was sent */
    bool not_master;    /* refused: the server is a replica, which accepts no writes */
    bool lacks_script;  /* refused: the server does not know the script's hash */
    enum redis_redirect redirect; /* refused with a redirect */
    char text[REDIS_TEXT_SIZE]; /* of a STATUS or BULK, cut; or the server and what went
                                 * wrong */
};

struct redis_part;

/* A reply that is being put together from its parts. */
struct redis_reading {
    struct redis_answer answer;
    const char *label; /* of the server, before the text of an error */
    char *whole;       /* NULL, or a buffer that gets the whole text of a BULK */
    size_t whole_size;
};

void redis_reading_begin(struct redis_reading *reading, const char *label);

/* For a reader (reader.h), whose `arg` is the reading. */
void redis_reading_part(void *reading, const struct redis_part *part);

/* Copy the answer into *out, and be ready for the next reply. */
void redis_reading_take(struct redis_reading *reading, struct redis_answer *out);

/* Is the answer exactly this text, without further bytes, not even a NUL? */
bool redis_answer_is(const struct redis_answer *answer, const char *text);

/* Make `answer` a failure with a reason. */
void redis_answer_fail(struct redis_answer *answer, enum redis_outcome outcome,
                       const char *why);

/* ---- messages to a subscriber: "message", "subscribe" or "unsubscribe", a channel, a text ---- */

enum { REDIS_MESSAGE_PARTS = 3, REDIS_MESSAGE_PART_SIZE = 320 };

/* A message that is being put together from its parts. */
struct redis_message {
    /* NULL: no such part, or not a text, or one that is too long or has a NUL in it. */
    const char *parts[REDIS_MESSAGE_PARTS];
    char texts[REDIS_MESSAGE_PARTS][REDIS_MESSAGE_PART_SIZE];
    bool is_error; /* no message, but the refusal of a command */
};

/* For a reader (reader.h), whose `arg` is the message. */
void redis_message_part(void *message, const struct redis_part *part);

/* Make the message empty, before the first and between two messages. */
void redis_message_clear(struct redis_message *message);

#endif /* DLOCK_REDIS_ANSWER_H */
