/* SPDX-License-Identifier: MIT */
/* url.h -- the URL of a Redis server: its address, its login, its certificates. */
#ifndef DLOCK_REDIS_URL_H
#define DLOCK_REDIS_URL_H

#include <stdbool.h>
#include <stddef.h>

enum {
    REDIS_HOST_MAX = 255,
    REDIS_PATH_MAX = 107, /* sun_path */
    REDIS_SECRET_MAX = 255,
    REDIS_DEFAULT_PORT = 6379,
    REDIS_SENTINEL_PORT = 26379,
    REDIS_SENTINELS_MAX = 7,
    REDIS_SEEDS_MAX = 7,
    REDIS_MASTER_NAME_MAX = 127,
    REDIS_FILE_MAX = 255, /* the path of a certificate or key */
};

struct redis_address {
    char host[REDIS_HOST_MAX + 1];
    int port;
};

struct redis_tls;

struct redis_url {
    char host[REDIS_HOST_MAX + 1]; /* "" for a socket */
    int port;
    char path[REDIS_PATH_MAX + 1]; /* "" for TCP */
    char user[REDIS_SECRET_MAX + 1];     /* "": the default user */
    char password[REDIS_SECRET_MAX + 1]; /* "": none needed */
    int db;
    char label[REDIS_HOST_MAX + 16]; /* "host:port" or the path, for messages */
    int sentinel_count; /* 0: host or path is the server; else these Sentinels name
                         * it                                                         */
    struct redis_address sentinels[REDIS_SENTINELS_MAX];
    char master_name[REDIS_MASTER_NAME_MAX + 1];
    int seed_count; /* 0: no cluster; else the nodes to ask first                     */
    struct redis_address seeds[REDIS_SEEDS_MAX];
    char sentinel_user[REDIS_SECRET_MAX + 1];     /* "": the default user */
    char sentinel_password[REDIS_SECRET_MAX + 1]; /* "": none needed */
    bool is_encrypted; /* by TLS, to the server and to the Sentinels alike */
    char ca_file[REDIS_FILE_MAX + 1];   /* "": the authorities that the system trusts */
    char cert_file[REDIS_FILE_MAX + 1]; /* of this client; "": the server asks for none */
    char key_file[REDIS_FILE_MAX + 1];
    char server_name[REDIS_HOST_MAX + 1]; /* the name in certificates; "": the host of
                                           * the connection */
    const struct redis_tls *tls; /* the owner of the URL makes it before it opens a
                                  * wire */
};

/* Read redis://[user:password@]host[:port][/db], unix:///path[?db=N], or
 * redis-sentinel://[user:password@]host[:port],host[:port].../name with ?db=N,
 * &sentinel-user=U and &sentinel-password=P behind the name, or
 * redis-cluster://[user:password@]host[:port],host[:port]...  rediss in place of redis is the same
 * over TLS, and takes ca=FILE, cert=FILE, key=FILE and server-name=NAME behind the ? too.
 * %xx may stand in users, passwords, names and paths.  The login before the @ is for the master;
 * the Sentinels get their own.  out->tls is NULL.  False: `why` names the first wrong
 * character, counted from 1, and the mistake, without secrets. */
bool redis_url_parse(const char *text, struct redis_url *out, char *why,
                     size_t why_size);

/* The form of a URL with the scheme of `text`, or all forms if the scheme is unknown; a
 * constant. */
const char *redis_url_form(const char *text);

#endif /* DLOCK_REDIS_URL_H */
