/* SPDX-License-Identifier: MIT */
/* server.c -- starts and stops listeners of civetweb.
 *
 * civetweb checks its stop flag every two seconds, or when a client connects.
 */
#include "base/http/server.h"

#include <arpa/inet.h>
#include <civetweb.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/http/address.h"
#include "base/http/session.h"
#include "base/os/clock.h"
#include "base/os/thread.h"
#include "base/text/log.h"

enum {
    KEEP_ALIVE_MS = 15000, /* how long a connection may be between two requests */
    BACKLOG = 1024,        /* the backlog of listen() */
    STUCK_MS = 2000,       /* a stop waits so long for a client to read an answer */
    POKE_MS = 10,
};

struct http_server {
    struct session_shared shared;
    struct listener listeners[CONNECTION_LISTENERS];
};

static int on_message(const struct mg_connection *conn, const char *message)
{
    const struct mg_context *context = conn != NULL ? mg_get_context(conn) : NULL;
    struct listener *l = context != NULL ? mg_get_user_data(context) : NULL;

    if (l == NULL || l->port != 0)
        LIMITED_WARN("civetweb: %s", message);
    else if (l->trouble[0] == '\0') /* the first message has the cause */
        (void)snprintf(l->trouble, sizeof(l->trouble), "%s", message);
    return 1;
}

struct http_server *http_server_new(const struct http_server_options *options)
{
    struct http_server *server = calloc(1, sizeof(*server));

    if (server == NULL)
        return NULL;
    server->shared = (struct session_shared){
        .connections = options->connections,
        .request_timeout_ms = options->request_timeout_ms,
        .answer = options->answer,
        .arg = options->arg,
    };
    (void)mg_init_library(0);
    return server;
}

bool http_server_listen(struct http_server *server, int listener, const char *address,
                        int64_t threads)
{
    struct listener *l = &server->listeners[listener];
    char count[24], timeout[24], keep_alive[24], queue[24], backlog[24], size[24],
        address_copy[80];
    const char *options[] = {
        "listening_ports",          address_copy,  "num_threads",           count,
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
    l->shared = &server->shared;
    l->number = listener;
    (void)address_parse(address, l->host, &wanted_port);
    (void)snprintf(address_copy, sizeof(address_copy), "%s:%d", l->host, wanted_port);
    (void)snprintf(count, sizeof(count), "%lld", (long long)threads);
    (void)snprintf(timeout, sizeof(timeout), "%lld",
                   (long long)server->shared.request_timeout_ms);
    (void)snprintf(keep_alive, sizeof(keep_alive), "%d", KEEP_ALIVE_MS);
    (void)snprintf(queue, sizeof(queue), "%d", HTTP_QUEUE_LENGTH);
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

int http_server_port(const struct http_server *server, int listener)
{
    return server->listeners[listener].port;
}

static void pause_ms(int64_t ms)
{
    dlock_clock_sleep_until(dlock_clock_after(dlock_clock_ns(), ms));
}

static void say_left(long count, int64_t wait_ms)
{
    if (count == 1)
        log_error("1 request was still in progress at the end of --drain-timeout (%lld ms)",
                  (long long)wait_ms);
    else
        log_error("%ld requests were still in progress at the end of --drain-timeout (%lld ms)",
                  count, (long long)wait_ms);
}

bool http_server_drain(struct http_server *server, int64_t wait_ms)
{
    int64_t start_ns = dlock_clock_ns();
    int64_t deadline_ns = dlock_clock_after(start_ns, wait_ms);
    int64_t stuck_ns = dlock_clock_after(start_ns, STUCK_MS);

    /* A request first counts itself and then reads this flag.  Here the flag is set
     * first and the count is read afterwards, so no request can be missed. */
    atomic_store(&server->shared.is_draining, true);
    while (atomic_load(&server->shared.in_work) > 0) {
        if (dlock_clock_ns() >= deadline_ns) {
            say_left(atomic_load(&server->shared.in_work), wait_ms);
            return false;
        }
        /* A client that does not read its answer must not prevent the stop. */
        if (dlock_clock_ns() > stuck_ns)
            connections_end_idle(server->shared.connections, STUCK_MS);
        pause_ms(1);
    }
    return true;
}

/* The thread that stops a listener. */
struct stopper {
    struct listener *listener;
    struct dlock_thread thread;
    atomic_bool is_done;
};

static void *stop_listener(void *arg)
{
    struct stopper *stopper = arg;

    mg_stop(stopper->listener->context);
    atomic_store(&stopper->is_done, true);
    return NULL;
}

/* Connect to the listener, so that civetweb checks its stop flag. */
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

void http_server_stop(struct http_server *server)
{
    struct stopper stoppers[CONNECTION_LISTENERS] = {0};
    bool started[CONNECTION_LISTENERS] = {false};

    if (server == NULL)
        return;
    connections_end_idle(server->shared.connections, 0);
    for (size_t i = 0; i < CONNECTION_LISTENERS; i++) {
        stoppers[i].listener = &server->listeners[i];
        started[i] = server->listeners[i].context != NULL &&
                     dlock_thread_start(&stoppers[i].thread, stop_listener,
                                        &stoppers[i]) == 0;
    }
    for (size_t i = 0; i < CONNECTION_LISTENERS; i++) {
        while (started[i] && !atomic_load(&stoppers[i].is_done)) {
            poke(&server->listeners[i]);
            pause_ms(POKE_MS);
            connections_end_idle(server->shared.connections, 0);
        }
        if (started[i])
            dlock_thread_join(&stoppers[i].thread);
    }
    (void)mg_exit_library();
    free(server);
}
