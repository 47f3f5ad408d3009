/* SPDX-License-Identifier: MIT */
/* http.c -- two listeners on civetweb, and the strict way in.
 *
 * Facts about civetweb 1.15 that shape this file: one thread serves one connection
 * until it closes; begin_request sees every request that could be parsed, http_error
 * every other but those whose target is for another server, which it closes without a
 * word: those are answered as the connection closes; mg_read() waits for all the bytes it was asked for, however slowly they
 * come, so bodies are read byte by byte against a deadline; and after a handler it
 * would go on reading an unread body for ever, so whoever leaves one must close the
 * connection.
 */
#include "app/http.h"

#include <arpa/inet.h>
#include <civetweb.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "app/entry.h"
#include "app/intake.h"
#include "app/limited.h"

enum {
    KEEP_ALIVE_MS = 1000, /* how long an idle connection may keep its thread */
    QUEUE_LENGTH = 1024,  /* connections that wait for a thread */
    MAX_REQUEST_SIZE = GATE_HEAD_MAX + 1024, /* civetweb's buffer, and the intake's */
    POKE_MS = 10,
};

struct listener {
    struct http *http;
    enum listener_kind kind;
    struct mg_context *context;
    char host[64];
    int port;
    int64_t workers;
    atomic_long busy;
};

/* What one thread of a listener has. */
struct session {
    struct worker *worker; /* NULL: there was no memory */
    struct intake intake;  /* what civetweb has in its buffer */
    bool is_over;          /* no further request of this connection is answered */
};

struct http {
    struct service *service;
    struct listener listeners[2];
    atomic_bool is_draining;
    atomic_long in_flight;
};

static struct listener *listener_of(const struct mg_connection *conn)
{
    return mg_get_user_data(mg_get_context(conn));
}

/* Send the answer as one piece.  False: nothing more is to be sent on this connection. */
static bool send_answer(struct mg_connection *conn, const struct request *rq,
                        struct answer *an)
{
    struct text *out = &rq->worker->head;

    answer_write(rq, an, an->closes, out);
    if (!out->broken && mg_write(conn, out->bytes, out->len) != (int)out->len)
        an->closes = true; /* the client is gone, or does not read */
    if (an->closes || out->broken)
        mg_disable_connection_keep_alive(conn);
    return !an->closes && !out->broken;
}

/* Read the whole body before the deadline.  NULL: done; else what went wrong. */
static const char *read_body(struct mg_connection *conn, struct request *rq,
                             int64_t timeout_ms)
{
    int64_t deadline_ns = monotonic_ns() + timeout_ms * 1000000;
    char *to = rq->worker->received;
    size_t len = (size_t)rq->gate.body_bytes;

    if (rq->gate.expects_continue && len > 0) {
        static const char CONTINUE[] = "HTTP/1.1 100 Continue\r\n\r\n";

        (void)mg_write(conn, CONTINUE, sizeof(CONTINUE) - 1);
    }
    for (size_t n = 0; n < len; n++) {
        if (mg_read(conn, to + n, 1) != 1)
            return "the body did not come";
        if (n + 1 < len && monotonic_ns() > deadline_ns)
            return "the body came too slowly";
    }
    to[len] = '\0';
    rq->body = to;
    rq->body_len = len;
    return NULL;
}

/* Let it in, find whose it is, and let that one answer. */
static void answer_request(struct mg_connection *conn, struct request *rq,
                           struct answer *an)
{
    struct listener *l = listener_of(conn);
    const struct route *route = NULL;
    const char *wrong = NULL;
    bool is_named = entry_name_request(rq);

    if (rq->gate.status != 0) {
        entry_refuse_head(rq, an);
        return;
    }
    if (!is_named) {
        entry_refuse(rq, an, 400,
                  "Idempotency-Key must be 1 to 64 of A-Z a-z 0-9 _ . : -");
        return;
    }
    if (atomic_load(&l->http->is_draining) && l->kind == LISTENER_ORDERS) {
        answer_outcome(rq, an, face_of(rq->head->uri), OUTCOME_UNAVAILABLE,
                       "the service is stopping");
        return;
    }
    route = route_admit(l->kind, rq, an);
    an->closes = rq->gate.body_bytes > 0; /* as long as it is not read */
    if (route == NULL)
        return;
    wrong = read_body(conn, rq, rq->worker->service->config->request_timeout_ms);
    if (wrong != NULL) {
        entry_refuse(rq, an, 408, wrong);
        return;
    }
    an->closes = false;
    route->handler(rq, an);
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
    if (session->intake.length > 0 && !session->intake.is_broken)
        return false;
    LIMITED_WARN("a request of %zu bytes was not seen: out of memory, or this civetweb "
                 "reads otherwise than by recv()",
                 session->intake.length);
    return true;
}

static int on_request(struct mg_connection *conn)
{
    struct listener *l = listener_of(conn);
    struct session *session = mg_get_thread_pointer(conn);
    const struct mg_request_info *info = mg_get_request_info(conn);
    int64_t start_ns = monotonic_ns();
    struct gate_request head;
    struct request rq;
    struct answer an;

    if (session == NULL || session->worker == NULL || is_unseen(session)) {
        mg_disable_connection_keep_alive(conn);
        return 500;
    }
    intake_watch(NULL);
    rq = (struct request){.worker = session->worker, .head = &head};
    rq.gate = gate_check(session->intake.bytes, session->intake.length, &head);
    compare_readings(info, &rq);
    an = entry_empty_answer(session->worker);
    (void)atomic_fetch_add(&l->http->in_flight, 1);
    answer_request(conn, &rq, &an);
    an.closes = an.closes || !entry_wants_keep_alive(&head) ||
                atomic_load(&l->http->is_draining);
    if (l->kind == LISTENER_ORDERS)
        entry_count(session->worker, &head, &an, start_ns);
    session->is_over = !send_answer(conn, &rq, &an);
    (void)atomic_fetch_sub(&l->http->in_flight, 1);
    intake_consume(&session->intake, rq.gate.head_bytes + (size_t)rq.gate.body_bytes);
    intake_watch(&session->intake);
    return an.status;
}

/* Answer a request that civetweb does not hand on, by what the gate says of it. */
static void answer_unparsed(struct mg_connection *conn, struct session *session,
                            int status, const char *why)
{
    struct gate_request head;
    struct request rq = {.worker = session->worker, .head = &head};
    struct answer an = entry_empty_answer(session->worker);

    rq.gate = gate_check(session->intake.bytes, session->intake.length, &head);
    if (rq.gate.status == 0)
        rq.gate = (struct gate_verdict){.status = status, .why = why};
    ident_make_request_id(rq.id);
    entry_refuse_head(&rq, &an);
    (void)send_answer(conn, &rq, &an);
    session->is_over = true;
}

/* What civetweb itself refuses: heads that it cannot parse, or that do not come. */
static int on_error(struct mg_connection *conn, int status, const char *why)
{
    struct session *session = mg_get_thread_pointer(conn);

    (void)status;
    (void)why;
    mg_disable_connection_keep_alive(conn);
    if (session != NULL && session->worker != NULL && !is_unseen(session))
        answer_unparsed(conn, session, 400, "the head of the request is malformed");
    return 0;
}

static void *on_thread_start(const struct mg_context *context, int kind)
{
    struct listener *l = mg_get_user_data(context);
    struct session *session = kind == 1 ? calloc(1, sizeof(*session)) : NULL;

    if (session != NULL) {
        session->worker = worker_new(l->http->service);
        session->intake.capacity = MAX_REQUEST_SIZE;
    }
    return session;
}

static void on_thread_end(const struct mg_context *context, int kind, void *thread)
{
    struct session *session = thread;

    (void)context;
    if (kind != 1 || session == NULL)
        return;
    worker_free(session->worker);
    free(session);
}

static int on_connection(const struct mg_connection *conn, void **data)
{
    struct listener *l = listener_of(conn);
    struct session *session = mg_get_thread_pointer(conn);
    long busy = atomic_fetch_add(&l->busy, 1) + 1;

    *data = NULL;
    if (session != NULL) {
        session->is_over = false;
        intake_watch(&session->intake);
    }
    if (l->kind != LISTENER_ORDERS)
        return 0;
    (void)atomic_fetch_add(&l->http->service->workers_busy, 1);
    if (busy == l->workers)
        LIMITED_WARN("all %lld workers hold a connection, further ones wait: "
                     "let --workers be at least the number of clients",
                     (long long)l->workers);
    return 0;
}

/* Just before the socket is closed: the last chance to answer a request that civetweb has
 * read and not handed on, since its target has another port than this listener, or is *. */
static void on_connection_ending(const struct mg_connection *conn)
{
    struct session *session = mg_get_thread_pointer(conn);

    if (session == NULL)
        return;
    intake_watch(NULL);
    if (session->worker != NULL && !session->is_over && session->intake.length > 0 &&
        !session->intake.is_broken)
        answer_unparsed((struct mg_connection *)(uintptr_t)conn, session, 421,
                        "this server does not answer for that host and port");
    intake_end(&session->intake);
}

static void on_connection_end(const struct mg_connection *conn)
{
    struct listener *l = listener_of(conn);

    (void)atomic_fetch_sub(&l->busy, 1);
    if (l->kind == LISTENER_ORDERS)
        (void)atomic_fetch_sub(&l->http->service->workers_busy, 1);
}

static int on_message(const struct mg_connection *conn, const char *message)
{
    (void)conn;
    LIMITED_WARN("civetweb: %s", message);
    return 1;
}

static bool start_listener(struct http *http, enum listener_kind kind,
                           const char *address, int64_t workers)
{
    struct listener *l = &http->listeners[kind];
    char threads[24], timeout[24], keep_alive[24], queue[24], size[24],
        address_copy[80];
    const char *options[] = {
        "listening_ports",          address_copy,  "num_threads",           threads,
        "request_timeout_ms",       timeout,       "keep_alive_timeout_ms", keep_alive,
        "enable_keep_alive",        "yes",         "tcp_nodelay",           "1",
        "decode_url",               "no",          "connection_queue",      queue,
        "enable_directory_listing", "no",          "listen_backlog",        queue,
        "enable_auth_domain_check", "no",          "max_request_size",      size,
        NULL,
    };
    const struct mg_callbacks callbacks = {
        .begin_request = on_request,
        .http_error = on_error,
        .init_thread = on_thread_start,
        .exit_thread = on_thread_end,
        .init_connection = on_connection,
        .connection_close = on_connection_ending,
        .connection_closed = on_connection_end,
        .log_message = on_message,
    };
    struct mg_server_port port = {0};

    l->http = http;
    l->kind = kind;
    l->workers = workers;
    (void)config_parse_address(address, l->host, &l->port);
    (void)snprintf(address_copy, sizeof(address_copy), "%s:%d", l->host, l->port);
    (void)snprintf(threads, sizeof(threads), "%lld", (long long)workers);
    (void)snprintf(timeout, sizeof(timeout), "%lld",
                   (long long)http->service->config->request_timeout_ms);
    (void)snprintf(keep_alive, sizeof(keep_alive), "%d", KEEP_ALIVE_MS);
    (void)snprintf(queue, sizeof(queue), "%d", QUEUE_LENGTH);
    (void)snprintf(size, sizeof(size), "%d", MAX_REQUEST_SIZE);
    l->context = mg_start(&callbacks, l, options);
    if (l->context == NULL || mg_get_server_ports(l->context, 1, &port) != 1) {
        log_error("cannot listen on %s: is the port taken?", address);
        return false;
    }
    l->port = port.port;
    return true;
}

struct http *http_start(struct service *service)
{
    const struct config *c = service->config;
    struct http *http = calloc(1, sizeof(*http));

    if (http == NULL)
        return NULL;
    http->service = service;
    (void)mg_init_library(0);
    if (start_listener(http, LISTENER_ORDERS, c->listen, c->workers) &&
        start_listener(http, LISTENER_ADMIN, c->admin_listen, c->admin_workers))
        return http;
    (void)http_drain(http, c->drain_timeout_ms);
    http_stop(http);
    return NULL;
}

int http_port(const struct http *http, enum listener_kind listener)
{
    return http->listeners[listener].port;
}

static void pause_ms(long ms)
{
    struct timespec t = {.tv_sec = 0, .tv_nsec = ms * 1000000};

    (void)nanosleep(&t, NULL);
}

bool http_drain(struct http *http, int64_t wait_ms)
{
    int64_t deadline_ns = monotonic_ns() + wait_ms * 1000000;

    /* A request counts itself before it looks at this, and this is set before the count
     * is looked at: none can slip through between. */
    atomic_store(&http->is_draining, true);
    while (atomic_load(&http->in_flight) > 0) {
        if (monotonic_ns() >= deadline_ns) {
            log_error("%ld requests are still in flight",
                      atomic_load(&http->in_flight));
            return false;
        }
        pause_ms(1);
    }
    return true;
}

static void *stop_listener(void *listener)
{
    struct listener *l = listener;

    mg_stop(l->context);
    return NULL;
}

/* civetweb looks at its stop flag every two seconds, or when somebody connects. */
static void poke(const struct listener *l)
{
    struct sockaddr_in to = {.sin_family = AF_INET,
                             .sin_port = htons((uint16_t)l->port)};
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);

    if (fd < 0)
        return;
    if (inet_pton(AF_INET, l->host, &to.sin_addr) == 1)
        (void)connect(fd, (struct sockaddr *)&to, sizeof(to));
    (void)close(fd);
}

void http_stop(struct http *http)
{
    pthread_t threads[2];
    bool started[2] = {false, false};

    if (http == NULL)
        return;
    for (size_t i = 0; i < 2; i++)
        started[i] = http->listeners[i].context != NULL &&
                     pthread_create(&threads[i], NULL, stop_listener,
                                    &http->listeners[i]) == 0;
    for (size_t i = 0; i < 2; i++) {
        while (started[i] && pthread_tryjoin_np(threads[i], NULL) != 0) {
            poke(&http->listeners[i]);
            pause_ms(POKE_MS);
        }
    }
    (void)mg_exit_library();
    free(http);
}
