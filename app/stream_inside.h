/* SPDX-License-Identifier: MIT */
/* stream_inside.h -- the struct of the stream.  Only for stream.c and
 * stream_entries.c. */
#ifndef APP_STREAM_INSIDE_H
#define APP_STREAM_INSIDE_H

#include "app/config.h"
#include "app/ident.h"
#include "app/stream_mac.h"
#include "base/redis/script.h"

#define STREAM_GROUP "writers"

enum {
    STREAM_KEY_MAX = CONFIG_STREAM_MAX + REQUEST_ID_MAX + 40,
    STREAM_NUMBER_MAX = 24,
    STREAM_RESERVED = 1024, /* the distance of two reservations of numbers */
    STREAM_ORDER_MAX = 200, /* as in lua/stream_take.lua */
};

struct stream {
    const struct config *config;
    const char *name; /* of the stream itself; other keys begin with it */
    char queued[STREAM_KEY_MAX]; /* the key of the counts */
    struct redis_link *link;
    struct redis_script admit, find, stock, settle, leave;
    struct token_keys keys; /* of the MACs; the first makes them */
    _Atomic int64_t next_number; /* a multiple of STREAM_RESERVED: none is reserved */
    _Atomic int64_t length; /* the last answer of Redis */
};

#endif /* APP_STREAM_INSIDE_H */
