/* SPDX-License-Identifier: MIT */
/* shape.h -- the shapes of answers: what a server can answer to a command.
 *
 * Every command and every script names the shape of its answer: which kinds of reply there
 * are, which texts, which numbers.  If an answer does not have its shape, the outcome
 * is PROTOCOL, and the connection is closed, because the server may have mixed up the
 * order of its answers.
 *
 * Threads     Any. */
#ifndef BASE_REDIS_SHAPE_H
#define BASE_REDIS_SHAPE_H

#include "base/redis/answer.h"

/* Kinds of replies, as a set. */
enum {
    REDIS_MAY_BE_NIL = 1u << REDIS_NIL,
    REDIS_MAY_BE_NIL_ARRAY = 1u << REDIS_NIL_ARRAY,
    REDIS_MAY_BE_INTEGER = 1u << REDIS_INTEGER,
    REDIS_MAY_BE_STATUS = 1u << REDIS_STATUS,
    REDIS_MAY_BE_BULK = 1u << REDIS_BULK,
    REDIS_MAY_BE_SINGLE = 1u << REDIS_SINGLE,
    REDIS_MAY_BE_ALL = (1u << (REDIS_OTHER + 1)) - 1,
};

/* The rule for the text of a BULK. */
enum redis_bulk_rule { REDIS_BULK_IS_ANYTHING, REDIS_BULK_IS_NUMBER, REDIS_BULK_IS_SHA };

struct redis_shape {
    const char *what;    /* the command, or what the script does    */
    unsigned kinds;
    const char *status;  /* of a STATUS; NULL: any                  */
    enum redis_bulk_rule bulk;
    int64_t least, most; /* of an INTEGER or SINGLE                 */
    unsigned negatives;  /* bit n, n up to 31: an INTEGER may also be -n */
    int64_t number_least, number_most; /* of a BULK that is a number */
};

/* The shapes of Redis' own commands.  Each is an array of one, so that its name stands for
 * its address. */
typedef const struct redis_shape redis_shape_name[1];
extern redis_shape_name REDIS_SHAPE_ANY;  /* for commands that messages answer, and for
                                           * tests */
extern redis_shape_name REDIS_SHAPE_PING;
extern redis_shape_name REDIS_SHAPE_DONE;   /* OK: AUTH, SELECT, WATCH, UNWATCH, MULTI  */
extern redis_shape_name REDIS_SHAPE_QUEUED; /* a command between MULTI and EXEC         */
extern redis_shape_name REDIS_SHAPE_EXEC;   /* EXEC of one command with 1 or 0; or
                                             * nothing was executed */
extern redis_shape_name REDIS_SHAPE_SHA;    /* SCRIPT LOAD */
extern redis_shape_name REDIS_SHAPE_SET;    /* SET NX: done, or nil */
extern redis_shape_name REDIS_SHAPE_TEXT;   /* a value of any bytes, or nil */
extern redis_shape_name REDIS_SHAPE_NUMBER; /* a value that is a number, or nil */
extern redis_shape_name REDIS_SHAPE_TIME;   /* the same from 0 */
extern redis_shape_name REDIS_SHAPE_PTTL;   /* PTTL of a key that may be missing, or
                                             * have no end */
extern redis_shape_name REDIS_SHAPE_YES_NO;  /* 1 or 0 */
extern redis_shape_name REDIS_SHAPE_COUNT;   /* from 0 */
extern redis_shape_name REDIS_SHAPE_REPLICAS; /* WAIT: how many have acknowledged */
extern redis_shape_name REDIS_SHAPE_BALANCE; /* any integer */

/* The largest answer to PTTL. A server refuses an expiry time above INT64_MAX
 * milliseconds since 1970, so the time left is at least thirty years below that. */
#define REDIS_MS_MOST (INT64_MAX - INT64_C(1000000000000))

/* Has an ANSWERED answer this shape?  True: if a BULK has to be a number,
 * answer->integer is that number.  False: the outcome is now PROTOCOL, and the text
 * names the server `label`. */
bool redis_shape_check(const struct redis_shape *shape, const char *label,
                       struct redis_answer *answer);

#endif /* BASE_REDIS_SHAPE_H */
