/* SPDX-License-Identifier: MIT */
/* sentinel.h -- the questions to a Sentinel about a master, and its answers.
 *
 * A Sentinel is asked for the config epoch first and for the address second, so that the
 * address is at least as new as its epoch.
 *
 * Only for base/redis/. */
#ifndef BASE_REDIS_SENTINEL_H
#define BASE_REDIS_SENTINEL_H

#include <stdint.h>

#include "base/redis/command.h"
#include "base/redis/outcome.h"
#include "base/redis/reader.h"
#include "base/redis/url.h"

/* The address of the master, as a Sentinel answered it. */
struct redis_view {
    struct redis_address place;
    int64_t epoch; /* the config epoch, which grows with every fail-over; 0: the
                    * Sentinel named none */
};

/* The parts of a Sentinel's reply that are used. */
struct redis_said {
    const char *parts[2]; /* the first two texts of an array; NULL: none, or too long */
    char texts[2][REDIS_HOST_MAX + 1];
    char error[REDIS_WHY_SIZE]; /* "": the reply is no error */
    int64_t epoch;              /* the value behind "config-epoch"; 0: there was none */
    bool is_epoch_next;         /* while the reply is read */
};

/* For a reader (reader.h), whose `arg` is a struct redis_said that begins as 0. */
void redis_said_part(void *said, const struct redis_part *part);

/* The two questions about the master `name`, which is borrowed. */
struct redis_command redis_ask_epoch(const char *name);
struct redis_command redis_ask_address(const char *name);

/* The URL of one of the Sentinels of `url`, with the login of the Sentinels. */
void redis_sentinel_url(const struct redis_url *url, int number, struct redis_url *out);

/* Write the place into the URL and its label. */
void redis_url_go_to(struct redis_url *url, const struct redis_address *place);

/* Read the answer to redis_ask_address().  False: the answer names no address. */
bool redis_said_address(const struct redis_said *said, struct redis_address *out);

/* The reason of that: the Sentinel's own words if the reply is an error. */
const char *redis_said_why(const struct redis_said *said);

#endif /* BASE_REDIS_SENTINEL_H */
