/* SPDX-License-Identifier: MIT */
/* connection.c -- one connection to one Redis server, without blocking calls. */
#include "base/redis/connection.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/os/clock.h"
#include "base/os/scratch.h"
#include "base/redis/command.h"
#include "base/redis/reader.h"

enum {
    READ_SIZE = 4096,
    UNREAD_MAX = 64 * 1024, /* the longest reply to most commands is a line */
};

void redis_conn_break(struct redis_conn *conn, enum redis_outcome outcome, const char *fmt,
                      ...)
{
    va_list args;
    int len;

    conn->state = REDIS_BROKEN;
    conn->outcome = outcome;
    len = snprintf(conn->why, sizeof(conn->why), "%.100s: ", conn->url->label);
    va_start(args, fmt);
    vsnprintf(conn->why + len, sizeof(conn->why) - (size_t)len, fmt, args);
    va_end(args);
}

/* The same, with the reason of an answer, which names the server already. */
static void break_with(struct redis_conn *conn, const struct redis_answer *answer)
{
    conn->state = REDIS_BROKEN;
    conn->outcome = answer->outcome;
    snprintf(conn->why, sizeof(conn->why), "%.*s", (int)sizeof(conn->why) - 1, answer->text);
}

/* Append a command to the greeting of a new connection. */
static bool add_greeting(struct redis_conn *conn, const struct redis_command *command)
{
    struct redis_written written;
    char *longer;

    if (!redis_command_write(&written, command))
        return false;
    longer = realloc(conn->greeting, conn->greeting_len + written.len);
    if (longer != NULL) {
        memcpy(longer + conn->greeting_len, written.bytes, written.len);
        conn->greeting = longer;
        conn->greeting_len += written.len;
        conn->greeting_ends[conn->greeting_count++] = conn->greeting_len;
    }
    explicit_bzero(written.bytes, written.len);
    redis_written_free(&written);
    return longer != NULL;
}

static bool prepare_greeting(struct redis_conn *conn)
{
    const struct redis_url *url = conn->url;
    struct redis_command auth = {3, {"AUTH", url->user, url->password},
                                 REDIS_SHAPE_DONE};
    struct redis_command auth_default = {2, {"AUTH", url->password}, REDIS_SHAPE_DONE};
    char db[16];
    struct redis_command choose = {2, {"SELECT", db}, REDIS_SHAPE_DONE};

    snprintf(db, sizeof(db), "%d", url->db);
    if (url->password[0] != '\0' &&
        !add_greeting(conn, url->user[0] != '\0' ? &auth : &auth_default))
        return false;
    return url->db == 0 || add_greeting(conn, &choose);
}

static void hang_up(struct redis_conn *conn)
{
    redis_wire_close(conn->wire);
    redis_reader_close(conn->reader);
    if (conn->greeting != NULL)
        explicit_bzero(conn->greeting, conn->greeting_len);
    free(conn->greeting);
    conn->wire = NULL;
    conn->reader = NULL;
    conn->greeting = NULL;
    conn->greeting_len = conn->greeting_sent = 0;
    conn->greeting_count = conn->greetings_done = 0;
}

bool redis_conn_turn_to(struct redis_conn *conn, const struct redis_url *url)
{
    hang_up(conn);
    conn->url = url;
    conn->state = REDIS_OPENING;
    redis_reading_begin(&conn->reading, url->label);
    conn->reader = redis_reader_open(redis_reading_part, &conn->reading);
    if (conn->reader != NULL && prepare_greeting(conn))
        return true;
    redis_conn_break(conn, REDIS_NO_MEMORY, "no memory for a connection");
    return false;
}

void redis_conn_take_wire(struct redis_conn *conn, struct redis_wire *wire, const char *why)
{
    conn->wire = wire;
    conn->state = REDIS_CONNECTING;
    if (wire == NULL && why[0] == '\0')
        redis_conn_break(conn, REDIS_NO_MEMORY, "no memory for a connection");
    else if (wire == NULL)
        redis_conn_break(conn, REDIS_NOT_DONE, "%s", why);
}

/* Open the wire of a connection that is OPENING.  False: no memory. */
static bool open_wire(struct redis_conn *conn)
{
    char why[REDIS_WHY_SIZE];
    struct redis_wire *wire = redis_wire_open(conn->url, why);

    redis_conn_take_wire(conn, wire, why);
    return conn->state != REDIS_BROKEN || conn->outcome != REDIS_NO_MEMORY;
}

/* Make a connection without a server yet. */
static struct redis_conn *new_conn(void)
{
    struct redis_conn *conn = calloc(1, sizeof(*conn));

    if (conn == NULL)
        return NULL;
    conn->step_until_ns = INT64_MAX;
    conn->unread_max = UNREAD_MAX;
    return conn;
}

struct redis_conn *redis_conn_open(const struct redis_url *url)
{
    struct redis_conn *conn = new_conn();

    if (conn == NULL || (redis_conn_turn_to(conn, url) && open_wire(conn)))
        return conn;
    redis_conn_close(conn);
    return NULL;
}

struct redis_conn *redis_conn_open_by(const struct redis_route *route, void *way)
{
    struct redis_conn only_way = {.way = way};
    struct redis_conn *conn = new_conn();

    if (conn == NULL) {
        route->end(&only_way);
        return NULL;
    }
    conn->route = route;
    conn->way = way;
    if (route->begin(conn))
        return conn;
    redis_conn_close(conn);
    return NULL;
}

void redis_conn_close(struct redis_conn *conn)
{
    if (conn == NULL)
        return;
    hang_up(conn);
    if (conn->route != NULL)
        conn->route->end(conn);
    free(conn);
}

bool redis_conn_send(struct redis_conn *conn, const char *bytes, size_t len,
                     size_t *sent)
{
    while (*sent < len) {
        ssize_t done = redis_wire_send(conn->wire, bytes + *sent, len - *sent);

        if (done == -EAGAIN)
            return true;
        if (done < 0) {
            redis_conn_break(conn, REDIS_NOT_DONE, "%s", redis_wire_why(conn->wire, (int)-done));
            return false;
        }
        *sent += (size_t)done;
    }
    return true;
}

/* Handle the result `got` of a receive: bytes, or an error of the wire. */
static bool take_bytes(struct redis_conn *conn, const char *bytes, ssize_t got)
{
    if (got > 0) {
        if (!redis_reader_feed(conn->reader, bytes, (size_t)got))
            redis_conn_break(conn, REDIS_PROTOCOL, "%s", redis_reader_why(conn->reader));
        else if (redis_reader_unread(conn->reader) > conn->unread_max)
            redis_conn_break(conn, REDIS_PROTOCOL, "a reply of over %zu bytes",
                             conn->unread_max);
        else
            return true;
    } else if (got == 0) {
        redis_conn_break(conn, REDIS_NOT_DONE, "%s", redis_wire_why(conn->wire, 0));
    } else if (got != -EAGAIN) {
        redis_conn_break(conn, REDIS_NOT_DONE, "%s", redis_wire_why(conn->wire, (int)-got));
    }
    return false;
}

bool redis_conn_feed(struct redis_conn *conn)
{
    DLOCK_SCRATCH char bytes[READ_SIZE];

    return take_bytes(conn, bytes, redis_wire_receive(conn->wire, bytes, sizeof(bytes)));
}

bool redis_conn_await(struct redis_conn *conn)
{
    DLOCK_SCRATCH char bytes[READ_SIZE];

    return take_bytes(conn, bytes, redis_wire_await(conn->wire, bytes, sizeof(bytes)));
}

bool redis_conn_read_one(struct redis_conn *conn)
{
    if (redis_reader_next(conn->reader))
        return true;
    if (redis_reader_why(conn->reader) != NULL)
        redis_conn_break(conn, REDIS_PROTOCOL, "not Redis: %s",
                         redis_reader_why(conn->reader));
    return false;
}

bool redis_conn_feed_one(struct redis_conn *conn)
{
    return redis_conn_read_one(conn) ||
           (conn->state != REDIS_BROKEN && redis_conn_feed(conn) && redis_conn_read_one(conn));
}

void redis_conn_expect_messages(struct redis_conn *conn, struct redis_message *message)
{
    redis_message_clear(message);
    redis_reader_hand_to(conn->reader, redis_message_part, message);
}

bool redis_conn_next_answer(struct redis_conn *conn, struct redis_answer *out)
{
    if (conn->state != REDIS_READY || !redis_conn_read_one(conn))
        return false;
    redis_reading_take(&conn->reading, out);
    return true;
}

bool redis_conn_has_leftover(const struct redis_conn *conn)
{
    return redis_reader_unread(conn->reader) > 0;
}

/* Go on with the connect. */
static unsigned advance_connect(struct redis_conn *conn)
{
    ssize_t done = redis_wire_send(conn->wire, NULL, 0);

    if (done == -EAGAIN)
        return REDIS_WIRE_CAN_SEND;
    if (done < 0)
        redis_conn_break(conn, REDIS_NOT_DONE, "%s", redis_wire_why(conn->wire, (int)-done));
    else
        conn->state = REDIS_GREETING;
    return 0;
}

/* Send the commands of the greeting one after another.  Otherwise a superfluous answer
 * to the first command would be taken for the answer to the second, and so on for the
 * whole life of the connection. */
static unsigned advance_greeting(struct redis_conn *conn)
{
    for (; conn->greetings_done < conn->greeting_count; conn->greetings_done++) {
        size_t end = conn->greeting_ends[conn->greetings_done];
        struct redis_answer answer;

        if (!redis_conn_send(conn, conn->greeting, end, &conn->greeting_sent))
            return 0;
        if (conn->greeting_sent < end)
            return REDIS_WIRE_CAN_SEND;
        if (!redis_conn_feed_one(conn))
            return conn->state == REDIS_BROKEN ? 0 : REDIS_WIRE_CAN_RECEIVE;
        redis_reading_take(&conn->reading, &answer);
        if (answer.outcome == REDIS_ANSWERED)
            redis_shape_check(REDIS_SHAPE_DONE, conn->url->label, &answer);
        if (answer.outcome != REDIS_ANSWERED) {
            break_with(conn, &answer);
            return 0;
        }
        if (redis_conn_has_leftover(conn)) {
            redis_conn_break(conn, REDIS_PROTOCOL, "an answer to no command");
            return 0;
        }
    }
    conn->state = conn->route != NULL ? REDIS_ASKING : REDIS_READY;
    return 0;
}

unsigned redis_conn_advance(struct redis_conn *conn)
{
    unsigned wants;

    do {
        wants = 0;
        if (conn->state == REDIS_CONNECTING)
            wants = advance_connect(conn);
        if (conn->state == REDIS_GREETING)
            wants = advance_greeting(conn);
        if (conn->state == REDIS_ASKING)
            wants = conn->route->ask(conn);
    } while (conn->route != NULL && conn->route->goes_on(conn));
    conn->wants = wants;
    return wants;
}

void redis_conn_wait(struct redis_conn *conn, unsigned wanted, int64_t until_ns)
{
    struct redis_wire_look look = {.wire = conn->wire, .wanted = wanted};

    (void)redis_wire_wait(&look, 1, -1, until_ns);
}

void redis_conn_finish(struct redis_conn *conn, int64_t give_up_ns)
{
    while (redis_conn_advance(conn) != 0 || conn->state == REDIS_OPENING) {
        if (dlock_clock_ns() >= give_up_ns) {
            redis_conn_break(conn, REDIS_NOT_DONE, "no answer to the connect in time");
            return;
        }
        if (conn->state == REDIS_OPENING)
            (void)open_wire(conn); /* without memory it is BROKEN, which says so */
        else
            redis_conn_wait(conn, conn->wants,
                            conn->step_until_ns < give_up_ns ? conn->step_until_ns : give_up_ns);
    }
}

bool redis_conn_is_idle(const struct redis_conn *conn)
{
    char byte;

    /* A superfluous reply would be taken for the reply to the next command. */
    return !redis_conn_has_leftover(conn) &&
           redis_wire_receive(conn->wire, &byte, 1) == -EAGAIN;
}
