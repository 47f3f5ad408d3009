/* SPDX-License-Identifier: MIT */
/* connection.c -- one connection to one Redis server, driven without blocking. */
#include "base/redis/connection.h"

#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include "base/os/clock.h"
#include "base/os/event.h"
#include "base/os/scratch.h"
#include "base/redis/command.h"

enum {
    READ_SIZE = 4096,
    /* Of what was read and is not a whole reply.  The longest that we ask for is a line. */
    UNREAD_MAX = 64 * 1024,
};

void redis_conn_break(struct redis_conn *conn, dlock_status status, const char *fmt,
                      ...)
{
    va_list args;
    int len;

    conn->state = REDIS_BROKEN;
    conn->status = status;
    len = snprintf(conn->why, sizeof(conn->why), "%.100s: ", conn->url->label);
    va_start(args, fmt);
    vsnprintf(conn->why + len, sizeof(conn->why) - (size_t)len, fmt, args);
    va_end(args);
}

/* The same, by an answer that names the server already. */
static void break_with(struct redis_conn *conn, const struct redis_answer *answer)
{
    conn->state = REDIS_BROKEN;
    conn->status = answer->status;
    snprintf(conn->why, sizeof(conn->why), "%.*s", (int)sizeof(conn->why) - 1, answer->text);
}

/* The socket's options, which hiredis sets only in part. */
static void prepare_socket(const struct redis_conn *conn)
{
    int fd = conn->context->fd;
    int on = 1;

    fcntl(fd, F_SETFD, FD_CLOEXEC);
    if (conn->url->path[0] == '\0') {
        setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
        setsockopt(fd, SOL_SOCKET, SO_KEEPALIVE, &on, sizeof(on));
    }
}

/* Append one command to what is said first on a new connection. */
static bool add_greeting(struct redis_conn *conn, const struct redis_command *command)
{
    struct redis_wire wire;
    char *longer;

    if (!redis_wire_write(&wire, command))
        return false;
    longer = realloc(conn->greeting, conn->greeting_len + wire.len);
    if (longer != NULL) {
        memcpy(longer + conn->greeting_len, wire.bytes, wire.len);
        conn->greeting = longer;
        conn->greeting_len += wire.len;
        conn->greeting_ends[conn->greeting_count++] = conn->greeting_len;
    }
    explicit_bzero(wire.bytes, wire.len);
    redis_wire_free(&wire);
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

struct redis_conn *redis_conn_open(const struct redis_url *url)
{
    struct redis_conn *conn = calloc(1, sizeof(*conn));

    if (conn == NULL)
        return NULL;
    conn->url = url;
    conn->state = REDIS_CONNECTING;
    conn->context = url->path[0] != '\0' ? redisConnectUnixNonBlock(url->path)
                                         : redisConnectNonBlock(url->host, url->port);
    if (conn->context == NULL || !prepare_greeting(conn)) {
        redis_conn_close(conn);
        return NULL;
    }
    if (conn->context->err != 0)
        redis_conn_break(conn, DLOCK_IO, "%s", conn->context->errstr);
    else
        prepare_socket(conn);
    redis_reading_bind(&conn->reading, conn->context->reader, url->label);
    return conn;
}

void redis_conn_close(struct redis_conn *conn)
{
    if (conn == NULL)
        return;
    if (conn->context != NULL)
        redisFree(conn->context);
    if (conn->greeting != NULL)
        explicit_bzero(conn->greeting, conn->greeting_len);
    free(conn->greeting);
    free(conn);
}

bool redis_conn_send(struct redis_conn *conn, const char *bytes, size_t len,
                     size_t *sent)
{
    while (*sent < len) {
        ssize_t done = send(conn->context->fd, bytes + *sent, len - *sent,
                            MSG_NOSIGNAL | MSG_DONTWAIT);

        if (done >= 0)
            *sent += (size_t)done;
        else if (errno == EAGAIN || errno == EWOULDBLOCK)
            return true;
        else if (errno != EINTR) {
            redis_conn_break(conn, DLOCK_IO, "%s", strerror(errno));
            return false;
        }
    }
    return true;
}

bool redis_conn_feed(struct redis_conn *conn)
{
    DLOCK_SCRATCH char bytes[READ_SIZE];
    ssize_t got;

    do
        got = recv(conn->context->fd, bytes, sizeof(bytes), MSG_DONTWAIT);
    while (got < 0 && errno == EINTR);
    if (got > 0) {
        const redisReader *reader = conn->context->reader;

        if (redisReaderFeed(conn->context->reader, bytes, (size_t)got) != REDIS_OK)
            redis_conn_break(conn, DLOCK_PROTOCOL, "%s", reader->errstr);
        else if (reader->len - reader->pos > UNREAD_MAX)
            redis_conn_break(conn, DLOCK_PROTOCOL, "a reply of over %d bytes",
                             (int)UNREAD_MAX);
        else
            return true;
    } else if (got == 0) {
        redis_conn_break(conn, DLOCK_IO, "the server closed the connection");
    } else if (errno != EAGAIN && errno != EWOULDBLOCK) {
        redis_conn_break(conn, DLOCK_IO, "%s", strerror(errno));
    }
    return false;
}

/* Let the reader go through one whole reply.  False: there is none yet; or broken. */
static bool read_one(struct redis_conn *conn)
{
    void *reply = NULL;

    if (redisReaderGetReply(conn->context->reader, &reply) == REDIS_OK)
        return reply != NULL;
    redis_conn_break(conn, DLOCK_PROTOCOL, "not Redis: %s",
                     conn->context->reader->errstr);
    return false;
}

void redis_conn_expect_messages(struct redis_conn *conn, struct redis_message *message)
{
    redis_message_bind(message, conn->context->reader);
}

bool redis_conn_next_message(struct redis_conn *conn)
{
    bool is_there;

    do
        is_there = read_one(conn);
    while (!is_there && conn->state == REDIS_READY && redis_conn_feed(conn));
    return is_there;
}

bool redis_conn_next_answer(struct redis_conn *conn, struct redis_answer *out)
{
    if (conn->state != REDIS_READY || !read_one(conn))
        return false;
    redis_reading_take(&conn->reading, out);
    return true;
}

bool redis_conn_has_leftover(const struct redis_conn *conn)
{
    return conn->context->reader->pos < conn->context->reader->len;
}

/* A connect to a port of this machine that nobody listens on can meet itself, if the
 * kernel picks that very port for our end.  We would then talk to ourselves, and keep
 * the port from the server that is to come back on it. */
static bool met_itself(const struct redis_conn *conn)
{
    struct sockaddr_storage ours = {0};
    struct sockaddr_storage theirs = {0};
    socklen_t ours_len = sizeof(ours);
    socklen_t theirs_len = sizeof(theirs);

    if (conn->url->path[0] != '\0' ||
        getsockname(conn->context->fd, (struct sockaddr *)&ours, &ours_len) != 0 ||
        getpeername(conn->context->fd, (struct sockaddr *)&theirs, &theirs_len) != 0)
        return false;
    return ours_len == theirs_len && memcmp(&ours, &theirs, ours_len) == 0;
}

/* The connect has come to an end, one way or the other, or goes on. */
static short advance_connect(struct redis_conn *conn)
{
    int error = 0;
    socklen_t error_len = sizeof(error);

    if (dlock_poll_one(conn->context->fd, POLLOUT, 0) == 0)
        return POLLOUT;
    if (getsockopt(conn->context->fd, SOL_SOCKET, SO_ERROR, &error, &error_len) != 0)
        error = errno;
    if (error != 0)
        redis_conn_break(conn, DLOCK_IO, "%s", strerror(error));
    else if (met_itself(conn))
        redis_conn_break(conn, DLOCK_IO, "%s", strerror(ECONNREFUSED));
    else
        conn->state = REDIS_GREETING;
    return 0;
}

/* One command after another: an answer too many to the first would else be taken for that
 * to the second, and so on for as long as the connection lives. */
static short advance_greeting(struct redis_conn *conn)
{
    for (; conn->greetings_done < conn->greeting_count; conn->greetings_done++) {
        size_t end = conn->greeting_ends[conn->greetings_done];
        struct redis_answer answer;

        if (!redis_conn_send(conn, conn->greeting, end, &conn->greeting_sent))
            return 0;
        if (conn->greeting_sent < end)
            return POLLOUT;
        while (!read_one(conn))
            if (conn->state == REDIS_BROKEN || !redis_conn_feed(conn))
                return conn->state == REDIS_BROKEN ? 0 : POLLIN;
        redis_reading_take(&conn->reading, &answer);
        if (answer.status == DLOCK_OK)
            redis_shape_check(REDIS_SHAPE_DONE, conn->url->label, &answer);
        if (answer.status != DLOCK_OK) {
            break_with(conn, &answer);
            return 0;
        }
        if (redis_conn_has_leftover(conn)) {
            redis_conn_break(conn, DLOCK_PROTOCOL, "an answer that nobody asked for");
            return 0;
        }
    }
    conn->state = REDIS_READY;
    return 0;
}

short redis_conn_advance(struct redis_conn *conn)
{
    short events = 0;

    if (conn->state == REDIS_CONNECTING)
        events = advance_connect(conn);
    if (conn->state == REDIS_GREETING)
        events = advance_greeting(conn);
    conn->wants = events;
    return events;
}

void redis_conn_finish(struct redis_conn *conn, int64_t give_up_ns)
{
    short events = redis_conn_advance(conn);

    while (events != 0) {
        if (dlock_poll_one(conn->context->fd, events, give_up_ns) == 0 &&
            dlock_clock_ns() >= give_up_ns) {
            redis_conn_break(conn, DLOCK_IO, "no answer to the connect in time");
            return;
        }
        events = redis_conn_advance(conn);
    }
}

bool redis_conn_is_idle(const struct redis_conn *conn)
{
    char byte;

    /* A reply that nobody asked for would be taken for that of the next command. */
    if (redis_conn_has_leftover(conn))
        return false;
    return recv(conn->context->fd, &byte, 1, MSG_PEEK | MSG_DONTWAIT) < 0 &&
           (errno == EAGAIN || errno == EWOULDBLOCK);
}
