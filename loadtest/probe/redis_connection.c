/* SPDX-License-Identifier: MIT */
/* redis_connection.c -- a connection to a Redis server of the lab, beside those of the locks.
 */
#include "loadtest/probe/redis_connection.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <hiredis/hiredis.h>

#include "base/text/duration.h"
#include "loadtest/kit/interrupt.h"
#include "loadtest/kit/memory.h"

enum { AWAIT_POLL_MS = 5, DATABASES = 16 };

struct redis_side {
    redisContext *context; /* NULL: closed after a failure */
    char *text;
    int64_t number;
};

static void say(struct redis_side *side, const char *text)
{
    free(side->text);
    side->text = memory_need(strdup(text));
    side->number = strtoll(text, NULL, 10);
}

/* A late answer would be taken for the answer to the next command, so the connection is
 * closed. */
static enum redis_said give_up(struct redis_side *side, const char *why)
{
    say(side, *why ? why : "no connection");
    redisFree(side->context);
    side->context = NULL;
    return REDIS_SILENT;
}

static enum redis_said hear(struct redis_side *side, const redisReply *reply)
{
    char digits[32];

    if (reply->type == REDIS_REPLY_ARRAY && reply->elements > 0)
        return hear(side, reply->element[0]);
    if (reply->type == REDIS_REPLY_INTEGER) {
        snprintf(digits, sizeof digits, "%lld", reply->integer);
        say(side, digits);
        return REDIS_SAID;
    }
    if (reply->type == REDIS_REPLY_NIL || reply->type == REDIS_REPLY_ARRAY) {
        say(side, "");
        return REDIS_SAID_NOTHING;
    }
    say(side, reply->str);
    return reply->type == REDIS_REPLY_ERROR ? REDIS_SAID_NO : REDIS_SAID;
}

enum redis_said redis_side_ask(struct redis_side *side, const char *format, ...)
{
    enum redis_said said;
    redisReply *reply;
    va_list args;

    if (!side->context)
        return REDIS_SILENT;
    va_start(args, format);
    reply = redisvCommand(side->context, format, args);
    va_end(args);
    if (!reply)
        return give_up(side, side->context->errstr);
    said = hear(side, reply);
    freeReplyObject(reply);
    return said;
}

struct redis_side *redis_side_open(const struct lab *lab,
                                   const struct lab_server *server, int timeout_ms)
{
    struct timeval timeout = {.tv_sec = timeout_ms / 1000,
                              .tv_usec = timeout_ms % 1000 * 1000};
    struct redis_side *side = memory_need(calloc(1, sizeof *side));

    say(side, "");
    side->context = redisConnectWithTimeout("127.0.0.1", server->port, timeout);
    if (!side->context || side->context->err) {
        give_up(side, side->context ? side->context->errstr : "no memory");
        return side;
    }
    redisSetTimeout(side->context, timeout);
    if (redis_side_ask(side, "AUTH %s", lab->redis_password) == REDIS_SAID_NO)
        give_up(side, "the server refuses the lab's password: it is another one");
    return side;
}

void redis_side_close(struct redis_side *side)
{
    if (!side)
        return;
    redisFree(side->context);
    free(side->text);
    free(side);
}

const char *redis_side_text(const struct redis_side *side)
{
    return side->text;
}

int64_t redis_side_number(const struct redis_side *side)
{
    return side->number;
}

bool redis_side_info(struct redis_side *side, const char *field, char *out, size_t size)
{
    size_t length = strlen(field);
    const char *line;

    out[0] = '\0';
    if (redis_side_ask(side, "INFO everything") != REDIS_SAID)
        return false;
    for (line = side->text; line; line = strchr(line, '\n')) {
        line += *line == '\n';
        if (strncmp(line, field, length) == 0 && line[length] == ':') {
            snprintf(out, size, "%.*s", (int)strcspn(line + length + 1, "\r\n"),
                     line + length + 1);
            return true;
        }
    }
    return true;
}

int64_t redis_side_info_number(struct redis_side *side, const char *field)
{
    char text[64];
    char *end;
    int64_t number;

    if (!redis_side_info(side, field, text, sizeof text))
        return -1;
    number = strtoll(text, &end, 10);
    return end != text && *end == '\0' ? number : -1;
}

int64_t redis_side_keys(struct redis_side *side)
{
    char field[16], text[128];
    int64_t count = 0;

    for (int i = 0; i < DATABASES; i++) {
        snprintf(field, sizeof field, "db%d", i);
        if (!redis_side_info(side, field, text, sizeof text))
            return -1;
        if (strncmp(text, "keys=", 5) == 0)
            count += strtoll(text + 5, NULL, 10);
    }
    return count;
}

bool redis_side_await(struct redis_side *side, const char *field, const char *value,
                      int64_t timeout_ms)
{
    int64_t deadline_ns = monotonic_ns() + timeout_ms * 1000000;
    char now[128];

    while (redis_side_info(side, field, now, sizeof now)) {
        if (strcmp(now, value) == 0)
            return true;
        if (monotonic_ns() > deadline_ns || !interrupt_sleep_ms(AWAIT_POLL_MS))
            return false;
    }
    return false;
}

bool redis_side_await_listener(struct redis_side *side, const char *name,
                               int64_t timeout_ms)
{
    int64_t deadline_ns = monotonic_ns() + timeout_ms * 1000000;
    enum redis_said said;

    while (said = redis_side_ask(side, "PUBSUB CHANNELS *{%s}*", name),
           said == REDIS_SAID_NOTHING)
        if (monotonic_ns() > deadline_ns || !interrupt_sleep_ms(AWAIT_POLL_MS))
            return false;
    return said == REDIS_SAID;
}

bool redis_side_has(struct redis_side *side, const char *key, bool *there)
{
    *there = false;
    if (redis_side_ask(side, "EXISTS %s", key) != REDIS_SAID)
        return false;
    *there = redis_side_number(side) > 0;
    return true;
}
