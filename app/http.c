/* SPDX-License-Identifier: MIT */
/* http.c -- two listeners on civetweb, and the strict way in.
 *
 * Facts about civetweb 1.15 that shape this file: one thread serves one connection
 * until it closes; begin_request sees every request that could be parsed, http_error
 * every other; mg_read() waits for all the bytes it was asked for, however slowly they
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
#include <strings.h>
#include <time.h>
#include <unistd.h>

#include "app/limited.h"

enum {
    KEEP_ALIVE_MS = 1000, /* how long an idle connection may keep its thread */
    QUEUE_LENGTH = 1024,  /* connections that wait for a thread */
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

/* What the client wants after the answer; civetweb decides in the same way. */
static bool wants_keep_alive(const struct mg_request_info *info)
{
    for (int i = 0; i < info->num_headers; i++)
        if (strcasecmp(info->http_headers[i].name, "Connection") == 0)
            return strcasestr(info->http_headers[i].value, "keep-alive") != NULL;
    return info->http_version != NULL && strcmp(info->http_version, "1.1") == 0;
}

/* Send the answer as one piece. */
static void send_answer(struct mg_connection *conn, const struct request *rq,
                        struct answer *an)
{
    struct text *out = &rq->worker->head;
    const struct mg_request_info *info = mg_get_request_info(conn);
    bool closes = an->closes || !wants_keep_alive(info);

    answer_write(rq, an, closes, out);
    if (closes)
        mg_disable_connection_keep_alive(conn);
    if (out->broken)
        mg_disable_connection_keep_alive(conn);
    else
        (void)mg_write(conn, out->bytes, out->len);
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

/* The request's own name, or a new one.  False: it brought one that cannot be. */
static bool name_request(struct request *rq)
{
    size_t given = 0;
    const char *key = NULL;

    for (size_t i = 0; i < rq->head->header_count; i++) {
        if (strcasecmp(rq->head->headers[i].name, "Idempotency-Key") != 0)
            continue;
        key = rq->head->headers[i].value;
        given++;
    }
    rq->is_named_by_client = given == 1 && ident_is_request_id(key);
    if (rq->is_named_by_client)
        (void)snprintf(rq->id, sizeof(rq->id), "%s", key);
    else
        ident_make_request_id(rq->id);
    return given == 0 || rq->is_named_by_client;
}

/* Refuse what is not to be let in; what follows it is not to be trusted. */
static void turn_away(const struct request *rq, struct answer *an, int status,
                      const char *why)
{
    enum outcome outcome = OUTCOME_BAD_REQUEST;

    if (status == 413 || status == 414 || status == 431)
        outcome = OUTCOME_TOO_LARGE;
    answer_status(rq, an, face_of(rq->head->uri), outcome, status, why);
}

/* civetweb skips blanks before a request, and after an empty line goes on to parse what
 * an earlier connection left in the buffer.  So a request must begin where the buffer
 * does, which is the lowest place that any of this thread's requests began at. */
static bool begins_the_buffer(struct worker *w, const char *method)
{
    if (w->read_buffer == NULL || method < w->read_buffer)
        w->read_buffer = method;
    return method == w->read_buffer;
}

/* Let it in, find whose it is, and let that one answer. */
static void answer_request(struct mg_connection *conn, struct request *rq,
                           struct answer *an)
{
    struct listener *l = listener_of(conn);
    const struct route *route = NULL;
    const char *wrong = NULL;
    bool is_named = name_request(rq);

    rq->gate = gate_check(rq->head);
    if (rq->gate.status != 0) {
        turn_away(rq, an, rq->gate.status, rq->gate.why);
        return;
    }
    if (!begins_the_buffer(rq->worker, rq->head->method)) {
        turn_away(rq, an, 400, "a request must not begin with an empty line");
        return;
    }
    if (!is_named) {
        turn_away(rq, an, 400,
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
        turn_away(rq, an, 408, wrong);
        return;
    }
    an->closes = false;
    route->handler(rq, an);
}

/* The head as civetweb parsed it. */
static struct gate_request head_of(const struct mg_request_info *info,
                                   struct gate_header *headers)
{
    size_t count = (size_t)info->num_headers;

    for (size_t i = 0; i < count; i++)
        headers[i] = (struct gate_header){info->http_headers[i].name,
                                          info->http_headers[i].value};
    return (struct gate_request){
        .method = info->request_method,
        .uri = info->request_uri,
        .query = info->query_string,
        .version = info->http_version,
        .headers = headers,
        .header_count = count,
    };
}

static struct answer empty_answer(struct worker *w)
{
    text_clear(&w->body);
    return (struct answer){
        .body = &w->body,
        .outcome = OUTCOME_INTERNAL,
        .status = 500,
        .type = "text/plain",
        .closes = true,
    };
}

/* Count an answer; those for an order by their outcome, also if it was refused early. */
static void count_answer(struct worker *w, const struct gate_request *head,
                         const struct answer *an, int64_t start_ns)
{
    bool is_order = route_is_order(LISTENER_ORDERS, head);

    histogram_record(is_order ? &w->cell->order_time : &w->cell->other_time,
                     monotonic_ns() - start_ns);
    if (is_order)
        metrics_count(an->is_replay ? &w->cell->replayed
                                    : &w->cell->orders[an->outcome]);
}

static int on_request(struct mg_connection *conn)
{
    struct listener *l = listener_of(conn);
    struct worker *w = mg_get_thread_pointer(conn);
    const struct mg_request_info *info = mg_get_request_info(conn);
    struct gate_header headers[MG_MAX_HEADERS];
    struct gate_request head = head_of(info, headers);
    int64_t start_ns = monotonic_ns();
    struct request rq;
    struct answer an;

    if (w == NULL) { /* its thread could not get the memory it needs */
        mg_disable_connection_keep_alive(conn);
        return 500;
    }
    rq = (struct request){.worker = w, .head = &head};
    an = empty_answer(w);
    (void)atomic_fetch_add(&l->http->in_flight, 1);
    answer_request(conn, &rq, &an);
    an.closes = an.closes || atomic_load(&l->http->is_draining);
    if (l->kind == LISTENER_ORDERS)
        count_answer(w, &head, &an, start_ns);
    send_answer(conn, &rq, &an);
    (void)atomic_fetch_sub(&l->http->in_flight, 1);
    return an.status;
}

/* What civetweb itself refuses: heads that cannot be parsed. */
static int on_error(struct mg_connection *conn, int status, const char *why)
{
    struct worker *w = mg_get_thread_pointer(conn);
    const struct mg_request_info *info = mg_get_request_info(conn);
    struct gate_request head = {.uri = "", .method = info->request_method};
    struct request rq = {.worker = w, .head = &head};
    struct answer an;

    (void)why;
    mg_disable_connection_keep_alive(conn);
    if (w == NULL)
        return 0;
    an = empty_answer(w);
    ident_make_request_id(rq.id);
    if (status == 413)
        turn_away(&rq, &an, 431, "the head is too large");
    else if (status == 505)
        turn_away(&rq, &an, 505, "HTTP/1.0 and HTTP/1.1 are spoken here");
    else if (info->request_method != NULL && info->http_version != NULL &&
             strncmp(info->http_version, "1.", 2) == 0 &&
             !gate_knows_method(info->request_method))
        answer_status(&rq, &an, FACE_API, OUTCOME_METHOD_NOT_ALLOWED, 501,
                      "there is no such method");
    else
        turn_away(&rq, &an, 400, "the head of the request is malformed");
    send_answer(conn, &rq, &an);
    return 0;
}

static void *on_thread_start(const struct mg_context *context, int kind)
{
    struct listener *l = mg_get_user_data(context);

    return kind == 1 ? worker_new(l->http->service) : NULL;
}

static void on_thread_end(const struct mg_context *context, int kind, void *worker)
{
    (void)context;
    if (kind == 1)
        worker_free(worker);
}

static int on_connection(const struct mg_connection *conn, void **data)
{
    struct listener *l = listener_of(conn);
    long busy = atomic_fetch_add(&l->busy, 1) + 1;

    *data = NULL;
    if (l->kind != LISTENER_ORDERS)
        return 0;
    (void)atomic_fetch_add(&l->http->service->workers_busy, 1);
    if (busy == l->workers)
        LIMITED_WARN("all %lld workers hold a connection, further ones wait: "
                     "let --workers be at least the number of clients",
                     (long long)l->workers);
    return 0;
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
    char threads[24], timeout[24], keep_alive[24], queue[24], address_copy[80];
    const char *options[] = {
        "listening_ports",          address_copy,  "num_threads",           threads,
        "request_timeout_ms",       timeout,       "keep_alive_timeout_ms", keep_alive,
        "enable_keep_alive",        "yes",         "tcp_nodelay",           "1",
        "decode_url",               "no",          "connection_queue",      queue,
        "enable_directory_listing", "no",          "listen_backlog",        queue,
        NULL,
    };
    const struct mg_callbacks callbacks = {
        .begin_request = on_request,
        .http_error = on_error,
        .init_thread = on_thread_start,
        .exit_thread = on_thread_end,
        .init_connection = on_connection,
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
