/* SPDX-License-Identifier: MIT */
/* empty_handler.c -- an HTTP server whose handler does nothing. */
#include "loadtest/bench/empty_handler.h"

#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <unistd.h>

#include "base/http/server.h"
#include "base/text/duration.h"
#include "loadtest/bench/cell.h"
#include "loadtest/kit/interrupt.h"
#include "loadtest/kit/why.h"

enum { SPARE_CONNECTIONS = 8, DESCRIPTORS = 4096, REQUEST_TIMEOUT_MS = 10000, START_MS = 10000 };

/* Shared with the process of the server. */
struct shared {
    atomic_int port; /* 0: it does not listen yet */
};

static void answer(void *arg, struct http_exchange *x)
{
    (void)arg;
    x->status = 200;
    x->closes = x->gate.status != 0 || http_must_close(x);
    text_add(x->answer, "HTTP/1.1 200 OK\r\nX-Outcome: accepted\r\n"
                        "Content-Type: application/json\r\nContent-Length: 2\r\n%s\r\n{}",
             x->closes ? "Connection: close\r\n" : "");
}

/* A cell_fn; `plan` is the number of connections.  The parent ends the process. */
static enum exit_code serve(const void *plan, void *memory)
{
    const int *connections = plan;
    const struct connections_limits limits = {.open = {*connections + SPARE_CONNECTIONS, 0}};
    struct http_server_options options = {
        .connections = connections_new(DESCRIPTORS, &limits),
        .request_timeout_ms = REQUEST_TIMEOUT_MS,
        .answer = answer,
    };
    struct http_server *server = NULL;
    struct shared *shared = memory;

    if (options.connections != NULL)
        server = http_server_new(&options);
    if (server == NULL ||
        !http_server_listen(server, 0, "127.0.0.1:0", *connections + SPARE_CONNECTIONS))
        return EXIT_UNAVAILABLE;
    atomic_store(&shared->port, http_server_port(server, 0));
    for (;;)
        pause();
}

bool empty_handler_start(struct empty_handler *handler, int connections)
{
    struct shared *shared = cell_share(sizeof *shared);
    int64_t deadline_ns = monotonic_ns() + START_MS * INT64_C(1000000);
    int port = 0;

    if (cell_start(&handler->child, serve, &connections, shared)) {
        while ((port = atomic_load(&shared->port)) == 0 && child_runs(&handler->child) &&
               monotonic_ns() < deadline_ns && interrupt_sleep_ms(1))
            ;
        if (port == 0)
            child_end(&handler->child, SIGKILL, 1000);
    }
    cell_unshare(shared, sizeof *shared);
    if (port == 0)
        eprintf("seckill bench: the empty handler does not listen\n");
    snprintf(handler->url, sizeof handler->url, "http://127.0.0.1:%d", port);
    return port != 0;
}

void empty_handler_stop(struct empty_handler *handler)
{
    child_end(&handler->child, SIGKILL, 1000);
}
