/* SPDX-License-Identifier: MIT */
/* reader.h -- bytes of a server, taken apart into replies.
 *
 * The reader keeps no reply: it hands each part to a function as soon as the part is whole,
 * so that no memory is taken for a reply, whatever a server says of its length.
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
    REDIS_PART_ERROR,     /* a line that says what is wrong  */
    REDIS_PART_BULK,      /* a string, of any bytes          */
    REDIS_PART_INTEGER,
    REDIS_PART_NIL,       /* no string                       */
    REDIS_PART_NIL_ARRAY, /* no array                        */
    REDIS_PART_OTHER,     /* something that only RESP3 has   */
};

struct redis_part {
    enum redis_part_kind kind;
    int depth;        /* 0: the reply itself; 1: an element of an array that is one; 2: deeper */
    size_t index;     /* at depth 1: which element, of how many */
    size_t count;
    const char *text; /* of a STATUS, ERROR or BULK: `len` bytes, until the function returns */
    size_t len;
    int64_t integer;  /* of an INTEGER */
};

typedef void redis_part_fn(void *arg, const struct redis_part *part);

/* A reader that hands parts to `take`.  NULL: no memory. */
struct redis_reader *redis_reader_open(redis_part_fn *take, void *arg);
void redis_reader_close(struct redis_reader *reader); /* NULL is fine */

/* From the next reply on hand parts to another function. */
void redis_reader_hand_to(struct redis_reader *reader, redis_part_fn *take, void *arg);

/* Append bytes to what was received.  False: no memory, see redis_reader_why(). */
bool redis_reader_feed(struct redis_reader *reader, const char *bytes, size_t len);

/* Go through one reply.  True: it is whole, and all its parts were handed out.  False: its
 * rest has not come yet; or the bytes are no replies, see redis_reader_why(). */
bool redis_reader_next(struct redis_reader *reader);

/* The reader's failure in words, after which it can only be closed; NULL: none. */
const char *redis_reader_why(const struct redis_reader *reader);

/* The number of bytes that were fed and do not belong to a whole reply. */
size_t redis_reader_unread(const struct redis_reader *reader);

#endif /* BASE_REDIS_READER_H */
