/* SPDX-License-Identifier: MIT */
/* answer.h -- what a server said to one command.
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

/* What a node of a cluster answers in place of the command's answer.  The command was not
 * executed. */
enum redis_redirect {
    REDIS_NO_REDIRECT,
    REDIS_MOVED,        /* another node has the slot: the text names it */
    REDIS_ASK,          /* the slot is moving, and this key may be on the node that the text names */
    REDIS_TRY_AGAIN,    /* the slot is moving, and the keys of the command are on two nodes */
    REDIS_CLUSTER_DOWN, /* no node has the slot, or the cluster has no majority */
};

struct redis_answer {
    enum redis_outcome outcome; /* ANSWERED: the fields below hold; otherwise only text */
    enum redis_kind kind;
    int64_t integer;    /* of an INTEGER or SINGLE; of a BULK see shape.h */
    size_t len;         /* of a STATUS or BULK, as it was sent */
    bool not_master;    /* it failed since the server is a replica, which does not write */
    bool lacks_script;  /* it failed since the server does not know the script's hash */
    enum redis_redirect redirect; /* it failed since the server is a node of a cluster */
    char text[REDIS_TEXT_SIZE]; /* of a STATUS or BULK, cut; or what went wrong, where */
};

struct redis_part;

/* The buffer in which the parts of a reply are put together. */
struct redis_reading {
    struct redis_answer answer;
    const char *label; /* of the server, before the text of an error */
    char *whole;       /* NULL, or where the text of a BULK goes beside the answer's own */
    size_t whole_size;
};

void redis_reading_begin(struct redis_reading *reading, const char *label);

/* For a reader (reader.h), whose `arg` is the reading. */
void redis_reading_part(void *reading, const struct redis_part *part);

/* Copy what was read, and be ready for the next. */
void redis_reading_take(struct redis_reading *reading, struct redis_answer *out);

/* Is it exactly this text, with nothing behind it, not even a NUL? */
bool redis_answer_is(const struct redis_answer *answer, const char *text);

/* Make `answer` a failure with a reason. */
void redis_answer_fail(struct redis_answer *answer, enum redis_outcome outcome,
                       const char *why);

#endif /* DLOCK_REDIS_ANSWER_H */
