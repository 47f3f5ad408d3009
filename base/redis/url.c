/* SPDX-License-Identifier: MIT */
/* url.c -- parses Redis URLs strictly, because a URL with a small mistake could connect
 * to another server than the intended one.  No reason has a piece of the URL: what a wrong URL has
 * as a host or an option may be a part of a password. */
#include "base/redis/url.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/os/number.h"

enum { PORT_MAX = 65535, DB_MAX = 9999999 };

struct why {
    const char *url; /* its first character */
    char *text;
    size_t size;
};

/* Write the reason, which begins with the position of the mistake `at` in the URL.
 * Returns false. */
__attribute__((format(printf, 3, 4))) static bool
refuse(const struct why *why, const char *at, const char *fmt, ...)
{
    int len = snprintf(why->text, why->size, "at character %td: ", at - why->url + 1);
    va_list args;

    va_start(args, fmt);
    if (len >= 0 && (size_t)len < why->size)
        vsnprintf(why->text + len, why->size - (size_t)len, fmt, args);
    va_end(args);
    return false;
}

/* Copy text[0..len) to out, decoding %xx.  A zero byte is refused. */
static bool decode(const char *text, size_t len, char *out, size_t out_size,
                   const char *part, const struct why *why)
{
    size_t used = 0;

    for (const char *at = text, *end = text + len; at < end;) {
        const char *from = at;
        int byte = dlock_number_byte(&at, end);

        if (byte < 0)
            return refuse(why, from, "a %% in the %s is not followed by two hex digits", part);
        if (byte == 0)
            return refuse(why, from, "there is a %%00 in the %s", part);
        if (used + 1 >= out_size)
            return refuse(why, from, "the %s is over %zu bytes", part, out_size - 1);
        out[used++] = (char)byte;
    }
    out[used] = '\0';
    return true;
}

static bool read_db(const char *text, size_t len, struct redis_url *out,
                    const struct why *why)
{
    int64_t number = 0;

    if (!dlock_number_read(text, len, 0, DB_MAX, &number))
        return refuse(why, text, "a database is a number from 0 to %d", (int)DB_MAX);
    out->db = (int)number;
    return true;
}

/* Read what is before the @. */
static bool read_login(const char *text, size_t len, struct redis_url *out,
                       const struct why *why)
{
    const char *colon = memchr(text, ':', len);
    size_t user_len;

    if (colon == NULL)
        return refuse(why, text + len, "there is no password before the @: write user:password@ or "
                           ":password@");
    user_len = (size_t)(colon - text);
    if (user_len + 1 == len)
        return refuse(why, text + len, "the password before the @ is empty");
    return decode(text, user_len, out->user, sizeof(out->user), "user", why) &&
           decode(colon + 1, len - user_len - 1, out->password, sizeof(out->password),
                  "password", why);
}

/* Read host[:port]; an IPv6 address is in brackets. */
static bool read_address(const char *text, size_t len, struct redis_url *out,
                         const struct why *why)
{
    const char *host = text;
    const char *end = text + len;
    const char *host_end, *second_at;
    int64_t port = out->port != 0 ? out->port : REDIS_DEFAULT_PORT;

    if (len > 0 && text[0] == '[') {
        host++;
        host_end = memchr(text, ']', len);
        if (host_end == NULL)
            return refuse(why, end, "the ] after the host is missing");
        text = host_end + 1;
        if (text != end && *text != ':')
            return refuse(why, text, "after the ] comes neither : nor the end");
    } else {
        host_end = memchr(text, ':', len);
        if (host_end == NULL)
            host_end = end;
        text = host_end;
    }
    if (host == host_end)
        return refuse(why, host, "the host is missing");
    if ((second_at = memchr(host, '@', (size_t)(host_end - host))) != NULL)
        return refuse(why, second_at, "there are two @ in it; write %%40 in a password");
    if ((size_t)(host_end - host) > REDIS_HOST_MAX)
        return refuse(why, host + REDIS_HOST_MAX, "the host is over %d bytes", (int)REDIS_HOST_MAX);
    memcpy(out->host, host, (size_t)(host_end - host));
    if (text != end && !dlock_number_read(text + 1, (size_t)(end - text - 1), 1, PORT_MAX, &port))
        return refuse(why, text + 1, "a port is a number from 1 to 65535");
    out->port = (int)port;
    snprintf(out->label, sizeof(out->label),
             strchr(out->host, ':') ? "[%s]:%d" : "%s:%d", out->host, out->port);
    return true;
}

/* The groups of options that a URL may have after the ?. */
enum { OF_DB = 1, OF_SENTINELS = 2, OF_TLS = 4 };

/* Read name=value. */
static bool read_option(const char *text, size_t len, unsigned groups, struct redis_url *out,
                        const struct why *why)
{
    const struct {
        const char *name;
        unsigned group;
        char *value;
        size_t size;
    } options[] = {
        {"sentinel-user", OF_SENTINELS, out->sentinel_user, sizeof(out->sentinel_user)},
        {"sentinel-password", OF_SENTINELS, out->sentinel_password,
         sizeof(out->sentinel_password)},
        {"ca", OF_TLS, out->ca_file, sizeof(out->ca_file)},
        {"cert", OF_TLS, out->cert_file, sizeof(out->cert_file)},
        {"key", OF_TLS, out->key_file, sizeof(out->key_file)},
        {"server-name", OF_TLS, out->server_name, sizeof(out->server_name)},
    };
    const char *equals = memchr(text, '=', len);
    size_t name_len = equals != NULL ? (size_t)(equals - text) : len;

    if (equals == text + len - 1 && len > 0)
        return refuse(why, text + len, "there is no value behind the =");
    if (equals != NULL && groups & OF_DB && name_len == 2 && memcmp(text, "db", 2) == 0)
        return read_db(equals + 1, len - 3, out, why);
    for (size_t i = 0; equals != NULL && i < sizeof(options) / sizeof(options[0]); i++)
        if (groups & options[i].group && strlen(options[i].name) == name_len &&
            memcmp(text, options[i].name, name_len) == 0)
            return decode(equals + 1, len - name_len - 1, options[i].value, options[i].size,
                          options[i].name, why);
    return refuse(why, text, "behind the ? may stand%s%s%s, with & in between",
                  groups & OF_DB ? " db=N" : "",
                  groups & OF_SENTINELS ? ", sentinel-user=U, sentinel-password=P" : "",
                  groups & OF_TLS ? " ca=FILE, cert=FILE, key=FILE, server-name=NAME" : "");
}

/* Read the options at the end of a URL; "": there are none. */
static bool read_options(const char *query, unsigned groups, struct redis_url *out,
                         const struct why *why)
{
    while (*query != '\0') {
        size_t len = strcspn(query + 1, "&");

        if (!read_option(query + 1, len, groups, out, why))
            return false;
        query += 1 + len;
    }
    if (out->sentinel_user[0] != '\0' && out->sentinel_password[0] == '\0')
        return refuse(why, query, "sentinel-user= needs sentinel-password=");
    if ((out->cert_file[0] == '\0') != (out->key_file[0] == '\0'))
        return refuse(why, query, "cert= and key= need each other");
    return true;
}

static bool read_tcp(const char *text, struct redis_url *out, const struct why *why)
{
    const char *query = text + (out->is_encrypted ? strcspn(text, "?") : strlen(text));
    const char *slash = memchr(text, '/', (size_t)(query - text));
    size_t len = (size_t)((slash != NULL ? slash : query) - text);
    const char *at = memchr(text, '@', len);

    if (strcspn(text, "?#") < (size_t)(query - text))
        return refuse(why, text + strcspn(text, "?#"),
                      "there is a ? or # in it; write %%3F or %%23 in a password, and "
                      "rediss:// in front of options of TLS");
    if (!read_options(query, OF_TLS, out, why))
        return false;
    if (at != NULL) {
        if (!read_login(text, (size_t)(at - text), out, why))
            return false;
        len -= (size_t)(at + 1 - text);
        text = at + 1;
    }
    if (slash != NULL && slash + 1 < query &&
        !read_db(slash + 1, (size_t)(query - slash - 1), out, why))
        return false;
    return read_address(text, len, out, why);
}

static bool read_socket(const char *text, struct redis_url *out, const struct why *why)
{
    const char *query = strchr(text, '?');
    size_t len = query != NULL ? (size_t)(query - text) : strlen(text);

    if (text[0] != '/' || len < 2)
        return refuse(why, text, "after unix:// has to come an absolute path");
    if (!decode(text, len, out->path, sizeof(out->path), "path", why))
        return false;
    if (query != NULL) {
        if (strncmp(query, "?db=", 4) != 0)
            return refuse(why, query, "only ?db=N may follow the path");
        if (!read_db(query + 4, strlen(query + 4), out, why))
            return false;
    }
    snprintf(out->label, sizeof(out->label), "%s", out->path);
    return true;
}

/* The servers of a list, Sentinels or nodes, and their name in messages. */
struct guides {
    const char *name;
    int default_port;
    int max;
    struct redis_address *places;
    int *count;
};

/* Read host[:port],host[:port]... */
static bool read_guides(const char *text, size_t len, const struct guides *out,
                        const struct why *why)
{
    const char *end = text + len;

    for (;;) {
        const char *comma = memchr(text, ',', (size_t)(end - text));
        struct redis_url one = {.port = out->default_port};
        struct redis_address *place;

        if (*out->count == out->max)
            return refuse(why, text, "it has more than %d %s", out->max, out->name);
        if (!read_address(text, (size_t)((comma != NULL ? comma : end) - text), &one, why))
            return false;
        place = &out->places[*out->count];
        memcpy(place->host, one.host, sizeof(place->host));
        place->port = one.port;
        ++*out->count;
        if (comma == NULL)
            return true;
        text = comma + 1;
    }
}

static bool read_by_sentinel(const char *text, struct redis_url *out, const struct why *why)
{
    const char *slash = strchr(text, '/');
    const char *at = strchr(text, '@');
    const char *query = text + strcspn(text, "?"), *wrong;
    unsigned groups = OF_DB | OF_SENTINELS | (out->is_encrypted ? OF_TLS : 0);
    struct guides sentinels = {"Sentinels", REDIS_SENTINEL_PORT, REDIS_SENTINELS_MAX,
                               out->sentinels, &out->sentinel_count};

    if (slash == NULL || slash + 1 >= query)
        return refuse(why, slash == NULL ? query : slash + 1,
                      "the name of the master is missing");
    wrong = slash + 1 + strcspn(slash + 1, "/@&");
    if (wrong < query)
        return refuse(why, wrong, "there is a /, @ or & behind the name of the master; write ? "
                                  "before options, and %%2F, %%40 or %%26 in a name or password");
    if (at != NULL && at < slash) {
        if (!read_login(text, (size_t)(at - text), out, why))
            return false;
        text = at + 1;
    }
    if (!read_guides(text, (size_t)(slash - text), &sentinels, why) ||
        !decode(slash + 1, (size_t)(query - slash - 1), out->master_name,
                sizeof(out->master_name), "name of the master", why) ||
        !read_options(query, groups, out, why))
        return false;
    snprintf(out->label, sizeof(out->label), "master %s", out->master_name);
    return true;
}

static bool read_cluster(const char *text, struct redis_url *out, const struct why *why)
{
    const char *at = strchr(text, '@');
    struct guides seeds = {"nodes", REDIS_DEFAULT_PORT, REDIS_SEEDS_MAX, out->seeds,
                           &out->seed_count};
    size_t len;

    if (at != NULL) {
        if (!read_login(text, (size_t)(at - text), out, why))
            return false;
        text = at + 1;
    }
    len = out->is_encrypted ? strcspn(text, "?") : strlen(text);
    if (strcspn(text, "/?#@") < len)
        return refuse(why, text + strcspn(text, "/?#@"),
                      "behind the nodes comes neither a / nor options: a cluster has only "
                           "database 0; write %%40 for an @ in a password");
    if (!read_guides(text, len, &seeds, why) || !read_options(text + len, OF_TLS, out, why))
        return false;
    snprintf(out->label, sizeof(out->label), "cluster %.240s:%d", out->seeds[0].host,
             out->seeds[0].port);
    return true;
}

bool redis_url_parse(const char *text, struct redis_url *out, char *why_text,
                     size_t why_size)
{
    static const char local[] = "unix://";
    static const char plain[] = "redis";
    static const char encrypted[] = "rediss";
    /* The separator after the scheme. */
    static const char tcp[] = "://";
    static const char sentinel[] = "-sentinel://";
    static const char cluster[] = "-cluster://";
    struct why why = {text, why_text, why_size};
    const char *rest = "";

    memset(out, 0, sizeof(*out));
    if (text == NULL || text[0] == '\0')
        return refuse(&why, text, "it is empty");
    for (const char *c = text; *c != '\0'; c++)
        if ((unsigned char)*c <= ' ' || *c == 127)
            return refuse(&why, c, "there is a space or control character in it");
    out->is_encrypted = strncmp(text, encrypted, sizeof(encrypted) - 1) == 0;
    if (out->is_encrypted)
        rest = text + sizeof(encrypted) - 1;
    else if (strncmp(text, plain, sizeof(plain) - 1) == 0)
        rest = text + sizeof(plain) - 1;
    if (strncmp(rest, tcp, sizeof(tcp) - 1) == 0)
        return read_tcp(rest + sizeof(tcp) - 1, out, &why);
    if (strncmp(rest, sentinel, sizeof(sentinel) - 1) == 0)
        return read_by_sentinel(rest + sizeof(sentinel) - 1, out, &why);
    if (strncmp(rest, cluster, sizeof(cluster) - 1) == 0)
        return read_cluster(rest + sizeof(cluster) - 1, out, &why);
    if (strncmp(text, local, sizeof(local) - 1) == 0)
        return read_socket(text + sizeof(local) - 1, out, &why);
    return refuse(&why, text, "it begins with none of the schemes");
}

const char *redis_url_form(const char *text)
{
    static const struct {
        const char *beginning, *form;
    } FORMS[] = {
        {"redis://", "redis://[user:password@]host[:port][/db]"},
        {"rediss://", "rediss://[user:password@]host[:port][/db][?ca=FILE&...]"},
        {"redis-sentinel://", "redis-sentinel://[user:password@]host[:port],.../name[?db=N&...]"},
        {"rediss-sentinel://", "rediss-sentinel://[user:password@]host[:port],.../name[?...]"},
        {"redis-cluster://", "redis-cluster://[user:password@]host[:port],..."},
        {"rediss-cluster://", "rediss-cluster://[user:password@]host[:port],...[?ca=FILE&...]"},
        {"unix://", "unix:///path[?db=N]"},
    };

    for (size_t i = 0; text != NULL && i < sizeof(FORMS) / sizeof(FORMS[0]); i++)
        if (strncmp(text, FORMS[i].beginning, strlen(FORMS[i].beginning)) == 0)
            return FORMS[i].form;
    return "redis://host:port, redis-sentinel://host:port,.../name, redis-cluster://host:port,..., "
           "rediss in place of redis for TLS, or unix:///path";
}
