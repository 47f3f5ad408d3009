/* SPDX-License-Identifier: MIT */
/* session.c -- a connection and its requests, as civetweb reports them.
 *
 * Facts about civetweb 1.15 that shape this file:
 *
 *   - One thread serves a connection until it closes.
 *   - civetweb calls begin_request for every request that it could parse, and http_error
 *     for every other request, with one exception: if the target is for another server,
 *     civetweb closes the connection without a call.  on_connection_end() answers such a
 *     request.
 *   - mg_read() waits for all the bytes that it was asked for, however slowly they come.
 *     So http_read_body() asks only for bytes that have arrived.
 *   - After a handler, civetweb goes on reading an unread body for ever.  So a handler
 *     that leaves a part of the body unread must close the connection.
 *   - civetweb does not remember that mg_write() could not send all bytes.  So this file
 *     closes the connection then.
 */
#include "base/http/session.h"

#include <civetweb.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/ioctl.h>
#include <sys/socket.h>

#include "base/http/received.h"
#include "base/os/clock.h"
#include "base/os/event.h"
#include "base/text/log.h"

enum { TEXT_KEPT = 16384 }; /* the memory of a larger answer is freed at once */

/* The memory of a connection's thread; nothing in it is allocated between requests. */
struct session {
    struct listener *listener;
    struct mg_connection *conn; /* while it has a request */
    struct received received;   /* the bytes in civetweb's buffer */
    struct http_exchange now;   /* the request */
    char *request_body;         /* of the present request; NULL: not read */
    struct text body;           /* of the answer that is being written */
    struct text head;           /* the whole answer */
    bool is_over;               /* no further request of this connection is answered */
    bool is_refused;            /* the last request was refused, and the client may
                                 * still be sending it */
    bool is_in_work;            /* the request is counted in in_work */
};

/* The session of a request: the exchange is a part of it. */
static struct session *session_of(const struct http_exchange *x)
{
    return (struct session *)(uintptr_t)((const char *)x - offsetof(struct session, now));
}

/* Note why the connection ends, unless another thread has ended it. */
static void note_end(struct session *session, enum connection_end why)
{
    struct connection *c = session->received.connection;

    session->is_over = true;
    if (c != NULL && atomic_load(&c->state) != CONNECTION_ENDED)
        c->end = why;
}

/* Send the answer as one piece. */
static void send_answer(struct session *session)
{
    const struct http_exchange *x = &session->now;
    const struct text *out = x->answer;
    bool is_sent = false;

    (void)connection_enter(session->received.connection, CONNECTION_ANSWERING);
    is_sent = !out->broken && out->len > 0 &&
              mg_write(session->conn, out->bytes, out->len) == (int)out->len;
    session->is_refused = is_sent && x->closes && x->status >= 400;
    if (!is_sent)
        note_end(session, CONNECTION_END_GONE);
    else if (x->closes)
        note_end(session, CONNECTION_END_ANSWERED);
    if (session->is_over)
        mg_disable_connection_keep_alive(session->conn);
    /* Shrink both, because the answer to a HEAD is short and its body is not. */
    text_shrink(&session->head, TEXT_KEPT);
    text_shrink(&session->body, TEXT_KEPT);
}

/* Wait until more bytes of the client have arrived.  Returns their number; 0: none came
 * before the deadline, or the client has closed. */
static size_t wait_for_bytes(int fd, int64_t deadline_ns)
{
    short ready = 0;
    int count = 0;

    for (;;) {
        bool is_last = ready != 0 || dlock_clock_ns() >= deadline_ns;

        if (ioctl(fd, FIONREAD, &count) == 0 && count > 0)
            return (size_t)count;
        if (is_last)
            return 0;
        ready = dlock_poll_one(fd, POLLIN, deadline_ns);
    }
}

/* ---- what the program's function asks for ---- */

const char *http_read_body(struct http_exchange *x, const char **body, size_t *body_len)
{
    static const char CONTINUE[] = "HTTP/1.1 100 Continue\r\n\r\n";
    struct session *session = session_of(x);
    int64_t allowed_ms = session->listener->shared->request_timeout_ms;
    int64_t deadline_ns = dlock_clock_after(dlock_clock_ns(), allowed_ms);
    size_t len = (size_t)x->gate.body_bytes;
    size_t ready = session->received.length - x->gate.head_bytes;
    size_t n = 0;

    *body = "";
    *body_len = 0;
    if (len == 0)
        return NULL;
    session->request_body = malloc(len + 1);
    if (session->request_body == NULL)
        return "there is no memory for the body";
    if (x->gate.expects_continue)
        (void)mg_write(session->conn, CONTINUE, sizeof(CONTINUE) - 1);
    while (n < len) {
        if (n > 0 || ready == 0)
            ready = wait_for_bytes(session->received.connection->fd, deadline_ns);
        if (ready > len - n)
            ready = len - n;
        if (ready == 0 ||
            mg_read(session->conn, session->request_body + n, ready) != (int)ready)
            return "the body did not arrive whole within --request-timeout";
        n += ready;
    }
    session->request_body[len] = '\0';
    *body = session->request_body;
    *body_len = len;
    return NULL;
}

bool http_begin_work(struct http_exchange *x)
{
    struct session *session = session_of(x);
    bool is_wanted = connection_enter(session->received.connection, CONNECTION_WORKING);

    (void)atomic_fetch_add(&session->listener->shared->in_work, 1);
    session->is_in_work = true;
    return is_wanted;
}

bool http_is_draining(const struct http_exchange *x)
{
    return atomic_load(&session_of(x)->listener->shared->is_draining);
}

/* Does the client want to keep the connection after the answer?  The same rules as
 * civetweb's.  An Upgrade ends the connection, because civetweb does not change
 * protocols. */
static bool wants_keep_alive(const struct gate_request *head)
{
    for (size_t i = 0; i < head->header_count; i++)
        if (strcasecmp(head->headers[i].name, "Upgrade") == 0)
            return false;
    for (size_t i = 0; i < head->header_count; i++)
        if (strcasecmp(head->headers[i].name, "Connection") == 0)
            return strcasestr(head->headers[i].value, "keep-alive") != NULL;
    return strcmp(head->version, "1.1") == 0;
}

bool http_must_close(const struct http_exchange *x)
{
    struct connections *connections = session_of(x)->listener->shared->connections;

    return x->is_unreadable || !wants_keep_alive(x->head) || http_is_draining(x) ||
           connections_are_crowded(connections, x->listener);
}

/* ---- what civetweb calls ---- */

/* civetweb finds the end of a request by its own parser, so a head that the gate has
 * parsed differently is refused. (No such head is known.) */
static void compare_readings(const struct mg_request_info *info, struct http_exchange *x)
{
    int64_t body_bytes = info->content_length > 0 ? info->content_length : 0;

    if (x->gate.status == 0 && ((size_t)info->num_headers != x->head->header_count ||
                                body_bytes != x->gate.body_bytes))
        x->gate = (struct gate_verdict){.status = 400, .why = "the head is malformed"};
}

/* Has civetweb received bytes that did not pass recv()? */
static bool is_unseen(const struct session *session)
{
    if (session->received.length > 0 && !session->received.is_broken &&
        session->received.connection != NULL)
        return false;
    LIMITED_WARN("a request of %zu bytes was not seen: out of memory, or this civetweb "
                 "reads otherwise than by recv()",
                 session->received.length);
    return true;
}

/* Begin an exchange: let the gate judge the received head. */
static void begin_exchange(struct session *session, struct mg_connection *conn,
                           struct gate_request *head)
{
    int64_t start_ns = dlock_clock_ns();

    text_clear(&session->body);
    text_clear(&session->head);
    session->conn = conn;
    session->is_in_work = false;
    session->request_body = NULL;
    session->now = (struct http_exchange){
        .head = head,
        .gate = gate_check(session->received.bytes, session->received.length, head),
        .listener = session->listener->number,
        .start_ns = start_ns,
        .is_over = session->received.connection->is_over,
        .body = &session->body,
        .answer = &session->head,
        .closes = true,
    };
}

static void end_exchange(struct session *session)
{
    if (session->is_in_work)
        (void)atomic_fetch_sub(&session->listener->shared->in_work, 1);
    session->is_in_work = false;
    session->conn = NULL;
}

static int on_request(struct mg_connection *conn)
{
    struct session *session = mg_get_thread_pointer(conn);
    struct http_exchange *x = NULL;
    struct gate_request head;

    if (session == NULL || is_unseen(session) ||
        !connection_enter(session->received.connection, CONNECTION_BODY)) {
        mg_disable_connection_keep_alive(conn);
        if (session != NULL)
            session->is_over = true;
        return 500;
    }
    received_watch(NULL);
    begin_exchange(session, conn, &head);
    x = &session->now;
    compare_readings(mg_get_request_info(conn), x);
    session->listener->shared->answer(session->listener->shared->arg, x);
    free(session->request_body);
    if (x->answer->len > 0 || x->answer->broken) {
        send_answer(session);
    } else {
        session->is_over = true;
        mg_disable_connection_keep_alive(conn);
    }
    end_exchange(session);
    received_consume(&session->received, x->gate.head_bytes + (size_t)x->gate.body_bytes);
    (void)connection_enter(session->received.connection, CONNECTION_BETWEEN);
    received_watch(&session->received);
    return x->status != 0 ? x->status : 500;
}

/* Answer a request that civetweb does not pass on, with the gate's verdict. */
static void answer_unparsed(struct mg_connection *conn, struct session *session,
                            int status, const char *why)
{
    struct http_exchange *x = &session->now;
    struct gate_request head;

    begin_exchange(session, conn, &head);
    x->is_unreadable = true;
    if (x->gate.status == 0)
        x->gate = (struct gate_verdict){.status = status, .why = why};
    session->listener->shared->answer(session->listener->shared->arg, x);
    send_answer(session);
    end_exchange(session);
}

/* Called for requests that civetweb itself refuses: heads that it cannot parse, or that
 * came too late. */
static int on_error(struct mg_connection *conn, int status, const char *why)
{
    struct session *session = mg_get_thread_pointer(conn);

    (void)status;
    (void)why;
    mg_disable_connection_keep_alive(conn);
    if (session != NULL && !is_unseen(session))
        answer_unparsed(conn, session, 400, "the head of the request is malformed");
    return 0;
}

/* Called at the start of the accepting thread (kind 0) and of the threads of
 * connections (kind 1). */
static void *on_thread_start(const struct mg_context *context, int kind)
{
    struct listener *l = mg_get_user_data(context);
    struct session *session = kind == 1 ? calloc(1, sizeof(*session)) : NULL;

    if (kind == 0)
        received_accept(l->shared->connections, l->number);
    if (session == NULL)
        return NULL;
    session->listener = l;
    session->received.connections = l->shared->connections;
    session->received.capacity = MAX_REQUEST_SIZE;
    return session;
}

static void on_thread_end(const struct mg_context *context, int kind, void *session)
{
    (void)context;
    if (kind == 1)
        free(session);
}

static int on_connection(const struct mg_connection *conn, void **data)
{
    struct session *session = mg_get_thread_pointer(conn);

    *data = NULL;
    if (session == NULL)
        return 0;
    session->is_over = false;
    session->is_refused = false;
    received_watch(&session->received);
    return 0;
}

/* If a socket is closed with unread bytes, it is reset, and the client may lose the
 * answer.  So read what the client still sends, within limits, until it closes. */
static void take_the_rest(int fd)
{
    enum { BYTES_MAX = 262144, WAIT_MS = 500 };
    int64_t deadline_ns = dlock_clock_after(dlock_clock_ns(), WAIT_MS);
    char dropped[4096];
    size_t taken = 0;

    (void)shutdown(fd, SHUT_WR);
    while (taken < BYTES_MAX && wait_for_bytes(fd, deadline_ns) > 0) {
        ssize_t n = recv(fd, dropped, sizeof(dropped), MSG_DONTWAIT);

        if (n <= 0)
            return;
        taken += (size_t)n;
    }
}

/* Called before the socket is closed.  Answers a request that civetweb has read and not
 * passed on, because its target has another port than this listener, or is *. */
static void on_connection_end(const struct mg_connection *conn)
{
    struct session *session = mg_get_thread_pointer(conn);

    if (session == NULL)
        return;
    received_watch(NULL);
    if (!session->is_over && session->received.length > 0 && !is_unseen(session))
        answer_unparsed((struct mg_connection *)(uintptr_t)conn, session, 421,
                        "this server does not answer for that host and port");
    if (session->is_refused && session->received.connection != NULL)
        take_the_rest(session->received.connection->fd);
    received_end(&session->received);
    text_free(&session->body);
    text_free(&session->head);
}

void session_callbacks(struct mg_callbacks *out)
{
    out->begin_request = on_request;
    out->http_error = on_error;
    out->init_thread = on_thread_start;
    out->exit_thread = on_thread_end;
    out->init_connection = on_connection;
    out->connection_close = on_connection_end;
}
