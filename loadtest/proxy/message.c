/* SPDX-License-Identifier: MIT */
/* message.c -- finds the ends of messages by their lengths, a byte at a time or many, and
 * never reads contents.
 *
 * A scanner keeps only counters, so any input is safe: input that is no message ends the
 * counting. */
#include "loadtest/proxy/message.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "loadtest/kit/name_list.h"

#define ELEMENTS_MAX (UINT64_C(1) << 40)
#define BULK_MAX (UINT64_C(1) << 40)

enum {
    POSTGRES_STARTUP_MAX = 10000,
    POSTGRES_MAX = 1 << 30,
    ZOOKEEPER_MAX = 64 << 20,
    SSL_REQUEST = 80877103,
    GSS_REQUEST = 80877104,
};

/* The states of a scanner of redis. */
enum { AT_TYPE, AT_NUMBER, AT_LINE, AT_INLINE };

#define X(id, name) name,
NAME_LIST(proxy_protocol_name, PROXY_PROTOCOLS(X))
#undef X

/* ---- redis ---- */

/* An element is over.  True: and so is the message. */
static bool element_ended(struct proxy_scanner *s)
{
    s->state = AT_TYPE;
    if (s->pending > 0)
        s->pending--;
    return s->pending == 0;
}

static bool number_ended(struct proxy_scanner *s)
{
    uint64_t n = s->is_negative ? 0 : s->number;

    s->state = AT_TYPE;
    if (!s->has_digits) { /* RESP3's streamed types, which no server of the lab sends */
        s->is_lost = true;
    } else if (strchr("$=!", s->type) != NULL) {
        if (s->is_negative)
            return element_ended(s);
        s->skip = n + 2;
    } else {
        n *= strchr("%|", s->type) != NULL ? 2 : 1;
        if (s->pending + n > ELEMENTS_MAX) {
            s->is_lost = true;
            return false;
        }
        /* An attribute stands before an element and is none itself. */
        s->pending += n + (s->type == '|' ? 1 : 0);
        return element_ended(s);
    }
    return false;
}

static void begin_element(struct proxy_scanner *s, char c)
{
    bool is_first = s->pending == 0;

    s->type = c;
    s->number = 0;
    s->is_negative = s->has_digits = false;
    if (is_first && s->direction == PROXY_TO_SERVER && c != '*') {
        s->state = AT_INLINE;
        s->head_len = c != '\r' && c != '\n';
        return;
    }
    if (is_first)
        s->pending = 1;
    if (c != '\0' && strchr("$=!*~>%|", c) != NULL)
        s->state = AT_NUMBER;
    else if (c != '\0' && strchr("+-:_#,(", c) != NULL)
        s->state = AT_LINE;
    else
        s->is_lost = true;
}

static bool read_number(struct proxy_scanner *s, char c)
{
    if (c == '\n')
        return number_ended(s);
    if (c >= '0' && c <= '9' && s->number < BULK_MAX) {
        s->number = s->number * 10 + (uint64_t)(c - '0');
        s->has_digits = true;
    } else if (c == '-' && !s->has_digits) {
        s->is_negative = true;
    } else if (c != '\r') {
        s->is_lost = true;
    }
    return false;
}

/* An empty line is no command, and gets no answer. */
static bool read_inline(struct proxy_scanner *s, char c)
{
    if (c == '\n' && s->head_len > 0) {
        s->state = AT_TYPE;
        return true;
    }
    if (c == '\n')
        s->state = AT_TYPE;
    else if (c != '\r')
        s->head_len = 1;
    return false;
}

static bool read_redis(struct proxy_scanner *s, char c)
{
    switch (s->state) {
    case AT_TYPE:
        begin_element(s, c);
        return s->state == AT_INLINE && c == '\n' && read_inline(s, c);
    case AT_NUMBER:
        return read_number(s, c);
    case AT_INLINE:
        return read_inline(s, c);
    default:
        return c == '\n' && element_ended(s);
    }
}

/* ---- those with a length ---- */

static uint32_t big_endian(const unsigned char *at)
{
    return (uint32_t)at[0] << 24 | (uint32_t)at[1] << 16 | (uint32_t)at[2] << 8 | at[3];
}

/* The body of a message whose head was read.  True: there is none, so it is over. */
static bool begin_body(struct proxy_scanner *s, uint32_t size, uint32_t least,
                       uint32_t most)
{
    s->head_len = 0;
    s->is_lost = size < least || size > most;
    s->skip = s->is_lost ? 0 : size - least;
    return !s->is_lost && s->skip == 0;
}

static bool read_startup(struct proxy_scanner *s)
{
    uint32_t code;

    if (s->head_len < 8)
        return false;
    code = big_endian(s->head + 4);
    s->is_started = code != SSL_REQUEST && code != GSS_REQUEST;
    return begin_body(s, big_endian(s->head), 8, POSTGRES_STARTUP_MAX);
}

/* Before the first message of a PostgreSQL server there may be single bytes, S, N or G,
 * which answer whether the server speaks TLS or GSS.  No first message has one of these
 * types. */
static bool read_consent(struct proxy_scanner *s)
{
    s->is_started = s->head[0] != 'N' && s->head[0] != 'S' && s->head[0] != 'G';
    if (s->is_started)
        return false;
    s->is_lost = s->head[0] != 'N';
    s->head_len = 0;
    return true;
}

static bool read_postgres(struct proxy_scanner *s)
{
    if (!s->is_started) {
        if (s->direction == PROXY_TO_SERVER)
            return read_startup(s);
        if (read_consent(s))
            return true;
    }
    return s->head_len == 5 && begin_body(s, big_endian(s->head + 1), 4, POSTGRES_MAX);
}

static bool read_zookeeper(struct proxy_scanner *s)
{
    return s->head_len == 4 && begin_body(s, big_endian(s->head), 0, ZOOKEEPER_MAX);
}

/* ---- http ---- */

/* The states of a scanner of http: in the head, at a chunk's size, behind a chunk, behind the
 * last one. */
enum { IN_HEAD, AT_SIZE, BEHIND_CHUNK, BEHIND_LAST };

enum { HTTP_DIGITS_MAX = 15, HEXADECIMAL = 16, DECIMAL = 10 };

/* The number that the text begins with.  False: there is none, or it is too great. */
static bool number_at(const char *text, int base, uint64_t *out)
{
    static const char DIGITS[] = "0123456789abcdefABCDEF";
    size_t len = strspn(text, base == HEXADECIMAL ? DIGITS : "0123456789");

    *out = len > 0 && len <= HTTP_DIGITS_MAX ? strtoull(text, NULL, base) : 0;
    return len > 0 && len <= HTTP_DIGITS_MAX;
}

static void read_header(struct proxy_scanner *s)
{
    static const char LENGTH[] = "content-length:", CODING[] = "transfer-encoding:";

    if (strncasecmp(s->line, LENGTH, strlen(LENGTH)) == 0) {
        const char *value = s->line + strlen(LENGTH);

        s->is_lost = !number_at(value + strspn(value, " "), DECIMAL, &s->number);
    } else if (strncasecmp(s->line, CODING, strlen(CODING)) == 0) {
        s->is_chunked = strcasestr(s->line, "chunked") != NULL;
    }
}

/* The head is over.  True: and so is the message. */
static bool head_ended(struct proxy_scanner *s)
{
    if (s->is_chunked) {
        s->state = AT_SIZE;
        return false;
    }
    s->skip = s->number;
    s->number = 0;
    return s->skip == 0;
}

static bool message_ended(struct proxy_scanner *s)
{
    s->state = IN_HEAD;
    s->is_chunked = false;
    s->number = 0;
    return true;
}

/* A line without its end; s->line has its beginning. */
static bool read_http_line(struct proxy_scanner *s)
{
    bool is_empty = s->line_len == 0;

    switch (s->state) {
    case IN_HEAD:
        if (!is_empty) {
            s->has_digits = true; /* a line has come: an empty one ends the head */
            read_header(s);
            return false;
        }
        if (!s->has_digits)
            return false;
        s->has_digits = false;
        return head_ended(s);
    case AT_SIZE:
        s->is_lost = !number_at(s->line, HEXADECIMAL, &s->skip);
        s->state = s->skip > 0 ? BEHIND_CHUNK : BEHIND_LAST;
        return false;
    case BEHIND_CHUNK:
        s->is_lost = !is_empty;
        s->state = AT_SIZE;
        return false;
    default: /* trailers, up to an empty line */
        return is_empty && message_ended(s);
    }
}

static bool read_http(struct proxy_scanner *s, char c)
{
    bool ended = false;

    if (c == '\n') {
        s->line[s->line_len < sizeof s->line ? s->line_len : sizeof s->line - 1] = '\0';
        ended = read_http_line(s);
        s->line_len = 0;
    } else if (c != '\r' && s->line_len < sizeof s->line) {
        s->line[s->line_len++] = c;
    }
    return ended;
}

/* ---- all ---- */

static bool read_byte(struct proxy_scanner *s, unsigned char c)
{
    if (s->protocol == PROXY_REDIS)
        return read_redis(s, (char)c);
    if (s->protocol == PROXY_HTTP)
        return read_http(s, (char)c);
    s->head[s->head_len++] = c;
    return s->protocol == PROXY_POSTGRES ? read_postgres(s) : read_zookeeper(s);
}

static bool body_ended(struct proxy_scanner *s)
{
    if (s->protocol == PROXY_HTTP)
        return !s->is_chunked;
    return s->protocol == PROXY_REDIS ? element_ended(s) : true;
}

size_t proxy_scan(struct proxy_scanner *s, const unsigned char *bytes, size_t size,
                  bool *ended)
{
    size_t taken = 0;

    *ended = false;
    while (taken < size && !*ended) {
        if (s->protocol == PROXY_RAW || s->is_lost)
            return size;
        if (s->skip > 0) {
            size_t n = size - taken < s->skip ? size - taken : (size_t)s->skip;

            taken += n;
            s->skip -= n;
            *ended = s->skip == 0 && body_ended(s);
        } else {
            *ended = read_byte(s, bytes[taken++]);
        }
    }
    return taken;
}
