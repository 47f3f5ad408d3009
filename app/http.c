/* SPDX-License-Identifier: MIT */
/* http.c -- two listeners on civetweb: their start and their stop.
 *
 * civetweb looks at its stop flag every two seconds, or when a client connects.
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

#include "app/descriptors.h"
#include "app/http_session.h"
#include "app/limited.h"
#include "base/http/address.h"

enum {
    KEEP_ALIVE_MS = 15000,        /* how long a connection may be between two requests */
    QUEUE_LENGTH = 64,            /* accepted connections that wait for a thread */
    BACKLOG = 1024,               /* connections that wait to be accepted */
    STUCK_MS = 2000,              /* a stop waits so long for a client to take an answer */
    POKE_MS = 10,
};

static int on_message(const struct mg_connection *conn, const char *message)
{
    const struct mg_context *context = conn != NULL ? mg_get_context(conn) : NULL;
    struct listener *l = context != NULL ? mg_get_user_data(context) : NULL;

    if (l != NULL && l->port == 0)
        (void)snprintf(l->trouble, sizeof(l->trouble), "%s", message);
    else
        LIMITED_WARN("civetweb: %s", message);
    return 1;
}

static bool start_listener(struct http *http, enum listener_kind kind,
                           const char *address, int64_t connections, int64_t workers)
{
    struct listener *l = &http->listeners[kind];
    char threads[24], timeout[24], keep_alive[24], queue[24], backlog[24], size[24],
        address_copy[80];
    const char *options[] = {
        "listening_ports",          address_copy,  "num_threads",           threads,
        "request_timeout_ms",       timeout,       "keep_alive_timeout_ms", keep_alive,
        "enable_keep_alive",        "yes",         "tcp_nodelay",           "1",
        "decode_url",               "no",          "connection_queue",      queue,
        "enable_directory_listing", "no",          "listen_backlog",        backlog,
        "enable_auth_domain_check", "no",          "max_request_size",      size,
        NULL,
    };
    struct mg_callbacks callbacks = {.log_message = on_message};
    struct mg_server_port port = {0};
    int wanted_port = 0;

    session_callbacks(&callbacks);
    l->http = http;
    l->kind = kind;
    l->slots = slots_new(http->service, workers);
    http->service->slots[kind] = l->slots;
    if (l->slots == NULL)
        return false;
    (void)address_parse(address, l->host, &wanted_port);
    (void)snprintf(address_copy, sizeof(address_copy), "%s:%d", l->host, wanted_port);
    (void)snprintf(threads, sizeof(threads), "%lld", (long long)connections);
    (void)snprintf(timeout, sizeof(timeout), "%lld",
                   (long long)http->service->config->request_timeout_ms);
    (void)snprintf(keep_alive, sizeof(keep_alive), "%d", KEEP_ALIVE_MS);
    (void)snprintf(queue, sizeof(queue), "%d", QUEUE_LENGTH);
    (void)snprintf(backlog, sizeof(backlog), "%d", BACKLOG);
    (void)snprintf(size, sizeof(size), "%d", MAX_REQUEST_SIZE);
    l->context = mg_start(&callbacks, l, options);
    if (l->context == NULL || mg_get_server_ports(l->context, 1, &port) != 1) {
        log_error("cannot listen on %s: %s", address,
                  l->trouble[0] != '\0' ? l->trouble : "no reason was given");
        return false;
    }
    l->port = port.port;
    return true;
}

/* The connections that the file descriptors of this process allow. */
static bool plan_connections(struct http *http)
{
    const struct config *c = http->service->config;
    struct connections_limits limits = {
        .per_address = c->connections_per_address,
        .fronts = c->fronts,
        .front_count = c->front_count,
    };
    size_t descriptors = 0;

    limits.open[LISTENER_ORDERS] = c->connections;
    limits.open[LISTENER_ADMIN] = c->admin_connections;
    if (!descriptors_plan(c, 2 * QUEUE_LENGTH, limits.open, &descriptors))
        return false;
    http->connections = connections_new(descriptors, &limits);
    http->service->connections = http->connections;
    http->refused = metrics_cell(http->service->metrics);
    for (size_t i = 0; i < 2 && http->connections != NULL; i++)
        http->planned[i] = limits.open[i];
    return http->connections != NULL && http->refused != NULL;
}

struct http *http_start(struct service *service)
{
    const struct config *c = service->config;
    struct http *http = calloc(1, sizeof(*http));

    if (http == NULL)
        return NULL;
    http->service = service;
    (void)pthread_mutex_init(&http->refused_mutex, NULL);
    (void)mg_init_library(0);
    if (plan_connections(http) &&
        start_listener(http, LISTENER_ORDERS, c->listen, http->planned[0],
                       c->workers) &&
        start_listener(http, LISTENER_ADMIN, c->admin_listen, http->planned[1],
                       c->admin_workers))
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
    int64_t start_ns = monotonic_ns();
    int64_t deadline_ns = start_ns + wait_ms * 1000000;

    /* A request counts itself before it looks at this, and this is set before the count
     * is looked at: none can slip through between. */
    atomic_store(&http->is_draining, true);
    while (atomic_load(&http->in_flight) > 0) {
        if (monotonic_ns() >= deadline_ns) {
            log_error("%ld requests are still in flight",
                      atomic_load(&http->in_flight));
            return false;
        }
        /* A client that does not take its answer must not keep the service from
         * stopping. */
        if (monotonic_ns() - start_ns > (int64_t)STUCK_MS * 1000000)
            connections_end_idle(http->connections, STUCK_MS);
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

/* Let it look at its stop flag. */
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
    if (http->connections != NULL)
        connections_end_idle(http->connections, 0);
    for (size_t i = 0; i < 2; i++)
        started[i] = http->listeners[i].context != NULL &&
                     pthread_create(&threads[i], NULL, stop_listener,
                                    &http->listeners[i]) == 0;
    for (size_t i = 0; i < 2; i++) {
        while (started[i] && pthread_tryjoin_np(threads[i], NULL) != 0) {
            poke(&http->listeners[i]);
            pause_ms(POKE_MS);
            connections_end_idle(http->connections, 0);
        }
    }
    for (size_t i = 0; i < 2; i++) {
        slots_free(http->listeners[i].slots);
        http->service->slots[i] = NULL;
    }
    connections_free(http->connections);
    http->service->connections = NULL;
    (void)pthread_mutex_destroy(&http->refused_mutex);
    (void)mg_exit_library();
    free(http);
}
