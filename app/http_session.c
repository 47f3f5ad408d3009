/* SPDX-License-Identifier: MIT */
/* http_session.c -- a connection and its requests, as civetweb reports them.
 *
 * Facts about civetweb 1.15 that shape this file: one thread serves one connection
 * until it closes; begin_request sees every request that could be parsed, http_error
 * every other but those whose target is for another server, which it closes without a
 * word: those are answered as the connection closes; mg_read() waits for all the bytes it
 * was asked for, however slowly they come, so it is asked only for those that are there;
 * after a handler it would go on reading an unread body for ever, so a handler that
 * leaves one must close the connection; and what mg_write() could not send it does not
 * remember, so the connection has to be closed here.
 */
#include "app/http_session.h"

#include <civetweb.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>

#include "app/entry.h"
#include "app/intake.h"
#include "app/limited.h"

enum { TEXT_KEPT = 16384 }; /* a larger answer's memory is given back at once */

/* The memory of a connection's thread; nothing in it is allocated between requests. */
struct session {
    struct listener *listener;
    struct intake intake;    /* what civetweb has in its buffer */
    struct text body;        /* of the answer that is being written */
    struct text head;        /* the whole of it */
    bool is_over;            /* no further request of this connection is answered */
    bool is_refused;         /* and the client may still be sending the last one */
};

/* Why the connection comes to its end, unless somebody else has ended it. */
static void note_end(struct session *session, enum connection_end why)
{
    struct connection *c = session->intake.connection;

    session->is_over = true;
    if (c != NULL && atomic_load(&c->state) != CONNECTION_ENDED)
        c->end = why;
}

/* Send the answer as one piece. */
static void send_answer(struct mg_connection *conn, struct session *session,
                        const struct request *rq, struct answer *an)
{
    struct text *out = &session->head;
    bool is_sent = false;

    answer_write(rq, an, an->closes, out);
    (void)connection_enter(session->intake.connection, CONNECTION_ANSWERING);
    is_sent = !out->broken && mg_write(conn, out->bytes, out->len) == (int)out->len;
    session->is_refused = is_sent && an->closes && an->status >= 400;
    if (!is_sent)
        note_end(session, CONNECTION_END_GONE);
    else if (an->closes)
        note_end(session, CONNECTION_END_ANSWERED);
    if (session->is_over)
        mg_disable_connection_keep_alive(conn);
    /* Each for itself: the head that answers a HEAD is short, and its body is not. */
    text_shrink(&session->head, TEXT_KEPT);
    text_shrink(&session->body, TEXT_KEPT);
}

/* Wait until the client has sent something more; how many bytes, or 0: nothing came until
 * the deadline, or the client has closed. */
static size_t wait_for_bytes(int fd, int64_t deadline_ns)
{
    struct pollfd p = {.fd = fd, .events = POLLIN, .revents = 0};
    int count = 0;

    for (;;) {
        int64_t left_ms = (deadline_ns - monotonic_ns()) / 1000000;

        if (ioctl(fd, FIONREAD, &count) == 0 && count > 0)
            return (size_t)count;
        if (p.revents != 0 || left_ms <= 0)
            return 0;
        (void)poll(&p, 1, (int)left_ms);
    }
}

/* Read the whole body before the deadline; it is the caller's to free, also if it did not
 * come.  NULL: done; else what went wrong. */
static const char *read_body(struct mg_connection *conn, struct session *session,
                             struct request *rq, char **body)
{
    static const char CONTINUE[] = "HTTP/1.1 100 Continue\r\n\r\n";
    int64_t deadline_ns =
        monotonic_ns() + rq->service->config->request_timeout_ms * 1000000;
    size_t len = (size_t)rq->gate.body_bytes;
    size_t ready = session->intake.length - rq->gate.head_bytes;
    size_t n = 0;

    rq->body = "";
    if (len == 0)
        return NULL;
    *body = malloc(len + 1);
    if (*body == NULL)
        return "there is no memory for the body";
    if (rq->gate.expects_continue && len > 0)
        (void)mg_write(conn, CONTINUE, sizeof(CONTINUE) - 1);
    while (n < len) {
        if (n > 0 || ready == 0)
            ready = wait_for_bytes(session->intake.connection->fd, deadline_ns);
        if (ready > len - n)
            ready = len - n;
        if (ready == 0 || mg_read(conn, *body + n, ready) != (int)ready)
            return "the body did not arrive whole within --request-timeout";
        n += ready;
    }
    (*body)[len] = '\0';
    rq->body = *body;
    rq->body_len = len;
    return NULL;
}

/* Take a slot and let the route answer.  The slot is given back before this returns. */
static void work(struct listener *l, struct request *rq, const struct route *route,
                 struct answer *an, int64_t start_ns)
{
    const struct config *c = rq->service->config;
    bool needs_worker = !(route->flags & ROUTE_NO_WORKER);

    if (atomic_load(&l->http->is_draining) && l->kind == LISTENER_ORDERS) {
        answer_outcome(rq, an, face_of(rq->head->uri), OUTCOME_UNAVAILABLE,
                       "the service is stopping");
        an->closes = true;
        return;
    }
    if (needs_worker)
        rq->worker = slots_take(l->slots, c->worker_wait_ms);
    if (needs_worker && rq->worker == NULL) {
        answer_outcome(rq, an, face_of(rq->head->uri), OUTCOME_UNAVAILABLE,
                       "every worker was busy for as long as --worker-wait allows");
        return;
    }
    route->handler(rq, an);
    if (rq->worker != NULL && l->kind == LISTENER_ORDERS)
        entry_count(rq->worker->cell, rq->head, an, start_ns);
    slots_give(l->slots, rq->worker);
}

/* Let it in, find whose it is, read its body.  NULL: it was refused. */
static const struct route *admit(struct mg_connection *conn, struct session *session,
                                 struct request *rq, struct answer *an, char **body)
{
    const struct route *route = NULL;
    const char *wrong = NULL;
    bool is_named = entry_name_request(rq);

    if (rq->gate.status != 0) {
        entry_refuse_head(rq, an);
    } else if (!is_named) {
        entry_refuse(rq, an, 400,
                     "Idempotency-Key must be 1 to 64 of A-Z a-z 0-9 _ . : -");
    } else if (session->intake.connection->is_over) {
        answer_status(rq, an, face_of(rq->head->uri), OUTCOME_UNAVAILABLE, 429,
                      "this address has more connections than "
                      "--connections-per-address allows, all with a request in progress");
    } else {
        route = route_admit(session->listener->kind, rq, an);
        an->closes = rq->gate.body_bytes > 0; /* as long as it is not read */
    }
    if (route == NULL)
        return NULL;
    wrong = read_body(conn, session, rq, body);
    if (wrong != NULL) {
        entry_refuse(rq, an, 408, wrong);
        return NULL;
    }
    an->closes = false;
    return route;
}

/* False: the connection was ended while the request came; nothing was worked. */
static bool answer_request(struct mg_connection *conn, struct session *session,
                           struct request *rq, struct answer *an, int64_t start_ns)
{
    struct listener *l = session->listener;
    char *body = NULL;
    const struct route *route = admit(conn, session, rq, an, &body);
    bool is_wanted = connection_enter(session->intake.connection, CONNECTION_WORKING);

    (void)atomic_fetch_add(&l->http->in_flight, 1);
    if (is_wanted && route != NULL)
        work(l, rq, route, an, start_ns);
    if (is_wanted && rq->worker == NULL && l->kind == LISTENER_ORDERS) {
        (void)pthread_mutex_lock(&l->http->refused_mutex);
        entry_count(l->http->refused, rq->head, an, start_ns);
        (void)pthread_mutex_unlock(&l->http->refused_mutex);
    }
    free(body);
    return is_wanted;
}

/* civetweb finds the end of a request by its own reading of the head, so a head that the
 * gate read otherwise is refused.  (None is known.) */
static void compare_readings(const struct mg_request_info *info, struct request *rq)
{
    int64_t body_bytes = info->content_length > 0 ? info->content_length : 0;

    if (rq->gate.status == 0 && ((size_t)info->num_headers != rq->head->header_count ||
                                 body_bytes != rq->gate.body_bytes))
        rq->gate = (struct gate_verdict){.status = 400, .why = "the head is malformed"};
}

/* The bytes of a request did not come through the intake. */
static bool is_unseen(const struct session *session)
{
    if (session->intake.length > 0 && !session->intake.is_broken &&
        session->intake.connection != NULL)
        return false;
    LIMITED_WARN("a request of %zu bytes was not seen: out of memory, or this civetweb "
                 "reads otherwise than by recv()",
                 session->intake.length);
    return true;
}

static int on_request(struct mg_connection *conn)
{
    struct session *session = mg_get_thread_pointer(conn);
    int64_t start_ns = monotonic_ns();
    struct gate_request head;
    struct request rq;
    struct answer an;

    if (session == NULL || is_unseen(session) ||
        !connection_enter(session->intake.connection, CONNECTION_BODY)) {
        mg_disable_connection_keep_alive(conn);
        if (session != NULL)
            session->is_over = true;
        return 500;
    }
    intake_watch(NULL);
    rq = (struct request){.service = session->listener->http->service, .head = &head};
    rq.gate = gate_check(session->intake.bytes, session->intake.length, &head);
    compare_readings(mg_get_request_info(conn), &rq);
    an = entry_empty_answer(&session->body);
    if (answer_request(conn, session, &rq, &an, start_ns)) {
        struct http *http = session->listener->http;
        int listener = (int)session->listener->kind;

        an.closes = an.closes || !entry_wants_keep_alive(&head) ||
                    atomic_load(&http->is_draining) ||
                    connections_are_crowded(http->connections, listener);
        send_answer(conn, session, &rq, &an);
    } else {
        session->is_over = true;
        mg_disable_connection_keep_alive(conn);
    }
    (void)atomic_fetch_sub(&session->listener->http->in_flight, 1);
    intake_consume(&session->intake, rq.gate.head_bytes + (size_t)rq.gate.body_bytes);
    (void)connection_enter(session->intake.connection, CONNECTION_BETWEEN);
    intake_watch(&session->intake);
    return an.status;
}

/* Answer a request that civetweb does not hand on, by what the gate says of it. */
static void answer_unparsed(struct mg_connection *conn, struct session *session,
                            int status, const char *why)
{
    struct gate_request head;
    struct request rq = {.service = session->listener->http->service, .head = &head};
    struct answer an = entry_empty_answer(&session->body);

    rq.gate = gate_check(session->intake.bytes, session->intake.length, &head);
    if (rq.gate.status == 0)
        rq.gate = (struct gate_verdict){.status = status, .why = why};
    ident_make_request_id(rq.id);
    entry_refuse_head(&rq, &an);
    send_answer(conn, session, &rq, &an);
}

/* The requests that civetweb itself refuses: heads that it cannot parse, or that come too
 * late. */
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

/* The thread that accepts (kind 0), and those of the connections (kind 1). */
static void *on_thread_start(const struct mg_context *context, int kind)
{
    struct listener *l = mg_get_user_data(context);
    struct session *session = kind == 1 ? calloc(1, sizeof(*session)) : NULL;

    if (kind == 0)
        intake_accept(l->http->connections, (int)l->kind);
    if (session == NULL)
        return NULL;
    session->listener = l;
    session->intake.connections = l->http->connections;
    session->intake.capacity = MAX_REQUEST_SIZE;
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
    intake_watch(&session->intake);
    return 0;
}

/* A socket that is closed with bytes unread is reset, and the client may lose the answer.
 * So take what it still sends, within bounds, until it closes. */
static void take_the_rest(int fd)
{
    enum { BYTES_MAX = 262144, WAIT_MS = 500 };
    int64_t deadline_ns = monotonic_ns() + (int64_t)WAIT_MS * 1000000;
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

/* Just before the socket is closed: the last chance to answer a request that civetweb has
 * read and not handed on, since its target has another port than this listener, or is *. */
static void on_connection_end(const struct mg_connection *conn)
{
    struct session *session = mg_get_thread_pointer(conn);

    if (session == NULL)
        return;
    intake_watch(NULL);
    if (!session->is_over && session->intake.length > 0 && !is_unseen(session))
        answer_unparsed((struct mg_connection *)(uintptr_t)conn, session, 421,
                        "this server does not answer for that host and port");
    if (session->is_refused && session->intake.connection != NULL)
        take_the_rest(session->intake.connection->fd);
    intake_end(&session->intake);
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
