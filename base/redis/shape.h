/* SPDX-License-Identifier: MIT */
/* shape.h -- what a server can answer to each question that we ask it.
 *
 * Every command and every script has a line in the table of shape.c: which kinds of
 * reply there are, which texts, which numbers.  An exchange hands out nothing else: what
 * does not fit is PROTOCOL, and ends its connection, since whoever answers so may have
 * lost count of what was asked.
 *
 * Threads     Any. */
#ifndef DLOCK_REDIS_SHAPE_H
#define DLOCK_REDIS_SHAPE_H

#include "base/redis/answer.h"

enum redis_shape {
    REDIS_SHAPE_ANY, /* not looked at: for what is answered by messages, and for tests */
    /* of commands */
    REDIS_SHAPE_PING,
    REDIS_SHAPE_DONE,   /* OK: AUTH, SELECT, WATCH, UNWATCH, MULTI  */
    REDIS_SHAPE_QUEUED, /* a command between MULTI and EXEC         */
    REDIS_SHAPE_EXEC,   /* of one that is yes or no; or nothing was executed */
    REDIS_SHAPE_SHA,    /* SCRIPT LOAD */
    REDIS_SHAPE_SET,    /* SET NX: done, or nil */
    REDIS_SHAPE_TEXT,   /* a value of any bytes, or nil */
    REDIS_SHAPE_NUMBER, /* a value that is a number, or nil */
    REDIS_SHAPE_TIME,   /* the same from 0 */
    REDIS_SHAPE_PTTL,   /* that of a key which may be gone, or have no end */
    /* of commands and scripts */
    REDIS_SHAPE_YES_NO,  /* 1 or 0 */
    REDIS_SHAPE_COUNT,   /* from 0 */
    REDIS_SHAPE_BALANCE, /* any integer */
    /* of scripts; see lua/ */
    REDIS_SHAPE_ACQUIRE,      /* of level 1: nil, or the holder's time */
    REDIS_SHAPE_ACQUIRE_MORE, /* of a level above: nil, or levels are missing */
    REDIS_SHAPE_READ_MORE,    /* the same of a reader, whom a writer may keep out */
    REDIS_SHAPE_PERMIT,       /* nil, or the time of the one that ends first */
    REDIS_SHAPE_FENCE,        /* as ACQUIRE and ACQUIRE_MORE, with a fence for nil */
    REDIS_SHAPE_FENCE_MORE,
    REDIS_SHAPE_EPOCH,        /* as those two, or an epoch is missing */
    REDIS_SHAPE_EPOCH_MORE,
    REDIS_SHAPE_RELEASE,      /* of level 1: 1, or nil */
    REDIS_SHAPE_RELEASE_TOLD, /* the same, and 1 more for each client that was told */
    REDIS_SHAPE_RELEASE_MORE, /* of a level above: 0, or nil */
    REDIS_SHAPE_READ_RELEASE, /* of a reader: 1 or 0, or nil */
    REDIS_SHAPE_INSPECT,      /* a text */
    REDIS_SHAPE_INSPECT_OR_NIL,
    REDIS_SHAPE_COUNT_ALL
};

/* Of an answer that is OK: does it have the shape?  The number in a BULK that has to be
 * one is its `integer` then.  If not, it is PROTOCOL from now on, by the server `label`. */
bool redis_shape_check(enum redis_shape shape, const char *label,
                       struct redis_answer *answer);

#endif /* DLOCK_REDIS_SHAPE_H */
