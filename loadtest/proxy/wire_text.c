/* SPDX-License-Identifier: MIT */
/* wire_text.c -- the text of the messages on a connection, for people: Redis commands and
 * replies, SQL, ZooKeeper's requests by name, etcd's by path and operation.  Pings and handshakes
 * are left out, and so is every password. */
#include "loadtest/proxy/wire_text.h"

#include <arpa/inet.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

enum { WORD_MAX = 60, LONG_MAX = 120 };

/* Bytes yet to be read, and text yet to be written. */
struct cut {
    const unsigned char *at, *end;
    char *out;
    size_t room; /* without the NUL */
};

static void put(struct cut *c, const char *text, size_t size)
{
    for (size_t i = 0; i < size && c->room > 0; i++, c->room--)
        *c->out++ = text[i] >= ' ' && text[i] <= '~' ? text[i] : '.';
    *c->out = '\0';
}

static void put_text(struct cut *c, const char *text)
{
    put(c, text, strlen(text));
}

/* The text, cut off after `most` bytes. */
static void put_short(struct cut *c, const char *text, size_t size, size_t most)
{
    put(c, text, size < most ? size : most);
    if (size > most)
        put_text(c, "...");
}

static size_t bytes_here(const struct cut *c)
{
    return (size_t)(c->end - c->at);
}

/* So much of `size` as is here; the rest was cut off. */
static size_t part_here(const struct cut *c, size_t size)
{
    return size < bytes_here(c) ? size : bytes_here(c);
}

/* ---- Redis ---- */

/* The rest of the line; then c->at is behind the line's end. */
static bool take_line(struct cut *c, const char **line, size_t *size)
{
    const unsigned char *end = memchr(c->at, '\r', bytes_here(c));

    if (end == NULL || end + 1 >= c->end)
        return false;
    *line = (const char *)c->at;
    *size = (size_t)(end - c->at);
    c->at = end + 2;
    return true;
}

static int64_t number_of(const char *text, size_t size)
{
    int64_t number = 0;
    bool is_negative = size > 0 && text[0] == '-';

    for (size_t i = is_negative; i < size && text[i] >= '0' && text[i] <= '9' &&
                                 number < INT32_MAX; i++)
        number = 10 * number + (text[i] - '0');
    return is_negative ? -number : number;
}

/* A string, behind which stands the end of a line. */
static void put_bulk(struct cut *c, size_t size, const char *quote)
{
    put_text(c, quote);
    put_short(c, (const char *)c->at, part_here(c, size), WORD_MAX);
    put_text(c, quote);
    c->at += part_here(c, size + 2);
}

static bool put_redis(struct cut *c, bool is_request, int depth);

static bool put_elements(struct cut *c, int64_t count, bool is_request, int depth)
{
    if (!is_request)
        put_text(c, "[");
    for (int64_t i = 0; i < count; i++) {
        if (i > 0)
            put_text(c, is_request ? " " : ", ");
        if (!put_redis(c, is_request, depth + 1))
            return false;
    }
    if (!is_request)
        put_text(c, "]");
    return true;
}

static bool put_redis(struct cut *c, bool is_request, int depth)
{
    const char *line;
    size_t size;
    char type;

    if (c->at >= c->end || depth > 4)
        return false;
    type = (char)*c->at++;
    if (!take_line(c, &line, &size))
        return false;
    switch (type) {
    case '*':
    case '>':
        if (number_of(line, size) < 0)
            put_text(c, "(nil)");
        return number_of(line, size) < 0 ||
               put_elements(c, number_of(line, size), is_request, depth);
    case '$':
        if (number_of(line, size) < 0)
            put_text(c, "(nil)");
        else
            put_bulk(c, (size_t)number_of(line, size), is_request ? "" : "\"");
        return true;
    case '_':
        put_text(c, "(nil)");
        return true;
    default:
        if (type == ':')
            put_text(c, "(integer) ");
        put_short(c, line, size, LONG_MAX);
        return true;
    }
}

static bool begins_with(const char *text, const char *word)
{
    return strncasecmp(text, word, strlen(word)) == 0;
}

static bool redis_text(struct cut *c, bool is_request, const char *text)
{
    put_redis(c, is_request, 0);
    /* A password stands after these. */
    if (is_request && (begins_with(text, "AUTH ") || begins_with(text, "HELLO ")))
        return false;
    return text[0] != '\0' && !begins_with(text, "PING") &&
           !begins_with(text, "CLIENT ") && !begins_with(text, "SCRIPT LOAD");
}

/* ---- PostgreSQL ---- */

static size_t text_size(const struct cut *c)
{
    return strnlen((const char *)c->at, bytes_here(c));
}

static void skip_text(struct cut *c)
{
    c->at += text_size(c);
    c->at += c->at < c->end;
}

static uint32_t take_number(struct cut *c, size_t bytes)
{
    uint32_t number = 0;

    for (; bytes > 0 && c->at < c->end; bytes--)
        number = number << 8 | *c->at++;
    return number;
}

/* Print a value: a bigint goes as eight bytes, and everything else as text. */
static void put_value(struct cut *c, size_t size)
{
    bool is_number = size == 8 && (c->at[0] == 0 || c->at[0] == 0xff);
    char text[24];

    if (!is_number) {
        put_short(c, (const char *)c->at, size, WORD_MAX);
        c->at += size;
        return;
    }
    snprintf(text, sizeof text, "%" PRId64,
             (int64_t)((uint64_t)take_number(c, 4) << 32 | take_number(c, 4)));
    put_text(c, text);
}

/* Values, each with its length in front: of a Bind, or of a row. */
static void put_values(struct cut *c)
{
    uint32_t count = take_number(c, 2);

    put_text(c, "(");
    for (uint32_t i = 0; i < count && c->at < c->end; i++) {
        uint32_t size = take_number(c, 4);

        if (i > 0)
            put_text(c, ", ");
        if (size == UINT32_MAX)
            put_text(c, "null");
        else
            put_value(c, part_here(c, size));
    }
    put_text(c, ")");
}

/* Parameter values of a Bind stand behind the formats. */
static void put_bind(struct cut *c)
{
    skip_text(c); /* the portal */
    put_text(c, "bind ");
    put_short(c, (const char *)c->at, text_size(c), WORD_MAX);
    put_text(c, " ");
    skip_text(c);
    c->at += 2 * take_number(c, 2);
    put_values(c);
}

static void put_error(struct cut *c)
{
    put_text(c, "ERROR ");
    for (; c->at < c->end && *c->at != '\0'; skip_text(c))
        if (*c->at++ == 'M')
            put_short(c, (const char *)c->at, text_size(c), LONG_MAX);
}

static bool postgres_text(struct cut *c, bool is_request)
{
    char type = (char)*c->at;

    if (c->end - c->at < 5 || type == '\0')
        return false;
    c->at += 5; /* the type and the length */
    if (is_request && type == 'P')
        skip_text(c);
    if (is_request && (type == 'Q' || type == 'P'))
        put_short(c, (const char *)c->at, text_size(c), 2 * LONG_MAX);
    else if (is_request && type == 'B')
        put_bind(c);
    else if (!is_request && type == 'D')
        put_values(c);
    else if (!is_request && type == 'C')
        put_short(c, (const char *)c->at, text_size(c), LONG_MAX);
    else if (!is_request && type == 'E')
        put_error(c);
    else
        return false;
    return true;
}

/* ---- ZooKeeper ---- */

struct named {
    int32_t number;
    const char *name; /* NULL: behind the last */
};

static const struct named requests[] = {
    {1, "create"},        {2, "delete"},       {3, "exists"},     {4, "getData"},
    {5, "setData"},       {8, "getChildren"},  {9, "sync"},       {12, "getChildren2"},
    {13, "check"},        {14, "multi"},       {15, "create2"},   {-11, "closeSession"},
    {19, "createContainer"}, {21, "createTTL"}, {101, "setWatches"}, {0, NULL},
};

static const struct named errors[] = {
    {0, "ok"}, {-101, "no such node"}, {-103, "bad version"}, {-110, "the node exists"},
    {-112, "the session has expired"}, {0, NULL},
};

static void put_named(struct cut *c, const struct named *list, int32_t number,
                      const char *unknown)
{
    while (list->name != NULL && list->number != number)
        list++;
    put_text(c, list->name != NULL ? list->name : unknown);
}

static void put_request(struct cut *c, int32_t number)
{
    put_named(c, requests, number, "");
    if (number > 0 && bytes_here(c) > 4 && number != 14) {
        uint32_t size = take_number(c, 4);

        put_text(c, " ");
        put_short(c, (const char *)c->at, part_here(c, size), LONG_MAX);
    }
}

static bool zookeeper_text(struct cut *c, bool is_request, uint64_t number)
{
    int32_t xid;

    if (number == 1) {
        put_text(c, is_request ? "connect" : "connected");
        return true;
    }
    take_number(c, 4); /* the length */
    xid = (int32_t)take_number(c, 4);
    if (xid == -2)
        return false; /* a ping */
    if (is_request) {
        put_request(c, (int32_t)take_number(c, 4));
        return true;
    }
    take_number(c, 8);
    if (xid == -1) {
        put_text(c, "a watch fires: ");
        take_number(c, 12);
        put_request(c, INT32_MAX);
    } else {
        put_named(c, errors, (int32_t)take_number(c, 4), "error");
    }
    return true;
}

/* ---- etcd, by HTTP ---- */

static bool has_text(const struct cut *c, const char *text)
{
    return memmem(c->at, bytes_here(c), text, strlen(text)) != NULL;
}

/* The operations of a request; keys and values are in base64, which nobody reads. */
static void put_operations(struct cut *c)
{
    static const char *const OPERATIONS[][2] = {
        {"request_put", " put"}, {"request_delete_range", " delete"}, {"request_range", " look"}};

    for (size_t i = 0; i < sizeof OPERATIONS / sizeof OPERATIONS[0]; i++)
        if (has_text(c, OPERATIONS[i][0]))
            put_text(c, OPERATIONS[i][1]);
}

static bool etcd_request(struct cut *c)
{
    static const char START[] = "POST /v3/";
    size_t size = bytes_here(c);
    const char *path = (const char *)c->at + sizeof START - 1;
    const unsigned char *end;

    if (size < sizeof START || memcmp(c->at, START, sizeof START - 1) != 0)
        return false;
    end = memchr(path, ' ', size - (sizeof START - 1));
    if (end == NULL || has_text(c, "/v3/auth/")) /* a password stands in it */
        return false;
    put(c, path, (size_t)((const char *)end - path));
    put_operations(c);
    return true;
}

static bool etcd_answer(struct cut *c)
{
    static const char WORDS[] = "\"message\":\"";
    const unsigned char *words = memmem(c->at, bytes_here(c), WORDS, sizeof WORDS - 1);
    const unsigned char *end;

    if (words == NULL) {
        put_text(c, has_text(c, "\"succeeded\":true") ? "done" : "answered");
        return !has_text(c, "\"token\"");
    }
    words += sizeof WORDS - 1;
    end = memchr(words, '"', (size_t)(c->end - words));
    put_short(c, (const char *)words, (size_t)((end != NULL ? end : c->end) - words), LONG_MAX);
    return true;
}

bool wire_text(const struct proxy_glimpse *glimpse, enum proxy_protocol protocol,
               char *out, size_t size)
{
    bool is_request = glimpse->direction == PROXY_TO_SERVER;
    struct cut c = {.at = glimpse->head,
                    .end = glimpse->head + glimpse->size,
                    .out = out,
                    .room = size - 1};

    *out = '\0';
    if (glimpse->size == 0)
        return false;
    switch (protocol) {
    case PROXY_REDIS:
        return redis_text(&c, is_request, out);
    case PROXY_POSTGRES:
        return postgres_text(&c, is_request);
    case PROXY_ZOOKEEPER:
        return zookeeper_text(&c, is_request, glimpse->number);
    case PROXY_HTTP:
        return is_request ? etcd_request(&c) : etcd_answer(&c);
    default:
        return false;
    }
}
