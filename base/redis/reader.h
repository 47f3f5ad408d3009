/* SPDX-License-Identifier: MIT */
/* reader.h -- parses the bytes of a server into replies.
 *
 * The reader stores no reply: a function gets each part as soon as it is complete.  So
 * a server that announces a huge reply cannot make the reader allocate memory for it.
 *
 * Threads     One at a time. */
#ifndef BASE_REDIS_READER_H
#define BASE_REDIS_READER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct redis_reader;

enum redis_part_kind {
    REDIS_PART_STATUS,    /* a line, such as OK              */
    REDIS_PART_ERROR,     /* a line with the error           */
    REDIS_PART_BULK,      /* a string, of any bytes          */
    REDIS_PART_INTEGER,
    REDIS_PART_NIL,       /* no string                       */
    REDIS_PART_NIL_ARRAY, /* no array                        */
    REDIS_PART_OTHER,     /* a type that only RESP3 has      */
};

struct redis_part {
    enum redis_part_kind kind;
    int depth;        /* 0: the reply itself; 1: an element of a reply that is an array;
                       * 2: deeper */
    size_t index;     /* at depth 1: which element, of how many */
    size_t count;
    const char *text; /* of a STATUS, ERROR or BULK: `len` bytes, until the function returns */
    size_t len;
    int64_t integer;  /* of an INTEGER */
};

typedef void redis_part_fn(void *arg, const struct redis_part *part);

/* Make a reader that gives the parts to `take`, with `arg`.  NULL: no memory. */
struct redis_reader *redis_reader_open(redis_part_fn *take, void *arg);
void redis_reader_close(struct redis_reader *reader); /* NULL is fine */

/* Give the parts to another function, from the next reply on. */
void redis_reader_hand_to(struct redis_reader *reader, redis_part_fn *take, void *arg);

/* Append bytes to what was received.  False: no memory, see redis_reader_why(). */
bool redis_reader_feed(struct redis_reader *reader, const char *bytes, size_t len);

/* Parse one reply.  True: it is complete, and `take` got all its parts.  False: a part
 * has not come yet; or the bytes are no valid reply, see redis_reader_why(). */
bool redis_reader_next(struct redis_reader *reader);

/* The reason of the reader's failure, after which it can only be closed; NULL: it has
 * not failed. */
const char *redis_reader_why(const struct redis_reader *reader);

/* The number of bytes that were fed and not parsed yet. */
size_t redis_reader_unread(const struct redis_reader *reader);

#endif /* BASE_REDIS_READER_H */
