/* SPDX-License-Identifier: MIT */
/* url.h -- where a Redis server is and how to enter it. */
#ifndef DLOCK_REDIS_URL_H
#define DLOCK_REDIS_URL_H

#include <stdbool.h>
#include <stddef.h>

enum {
    REDIS_HOST_MAX = 255,
    REDIS_PATH_MAX = 107, /* sun_path */
    REDIS_SECRET_MAX = 255,
    REDIS_DEFAULT_PORT = 6379,
};

struct redis_url {
    char host[REDIS_HOST_MAX + 1]; /* "" for a socket */
    int port;
    char path[REDIS_PATH_MAX + 1]; /* "" for TCP */
    char user[REDIS_SECRET_MAX + 1];     /* "": the default user */
    char password[REDIS_SECRET_MAX + 1]; /* "": none needed */
    int db;
    char label[REDIS_HOST_MAX + 16]; /* "host:port" or the path, for messages */
};

/* Read redis://[user:password@]host[:port][/db] or unix:///path[?db=N], with %xx in
 * user, password and path.  False: `why` says what is wrong, without secrets. */
bool redis_url_parse(const char *text, struct redis_url *out, char *why,
                     size_t why_size);

#endif /* DLOCK_REDIS_URL_H */
