/* SPDX-License-Identifier: MIT */
/* stream_inside.h -- the struct of the stream.  Only for stream.c and
 * stream_entries.c. */
#ifndef APP_STREAM_INSIDE_H
#define APP_STREAM_INSIDE_H

#include "app/config.h"
#include "app/ident.h"
#include "base/redis/script.h"

#define STREAM_GROUP "writers"

enum {
    STREAM_KEY_MAX = CONFIG_STREAM_MAX + REQUEST_ID_MAX + 40,
    STREAM_NUMBER_MAX = 24,
};

struct stream {
    const struct config *config;
    const char *name; /* of the stream itself; other keys begin with it */
    struct redis_link *link;
    struct redis_script admit, stock, settle, leave;
    _Atomic int64_t length; /* the last answer of Redis */
};

#endif /* APP_STREAM_INSIDE_H */
