/* SPDX-License-Identifier: MIT */
/* http.c -- the service's two listeners, for orders and for operators. */
#include "app/http.h"

#include <stdlib.h>

#include "app/descriptors.h"
#include "app/exchange.h"
#include "base/http/server.h"

struct http {
    struct exchange_desk desk;
    struct http_server *server;
    int64_t planned[CONNECTION_LISTENERS]; /* connections of each listener */
};

/* Plan the connections of both listeners by the limit of file descriptors. */
static bool plan_connections(struct http *http, struct service *service)
{
    const struct config *c = service->config;
    struct connections_limits limits = {
        .per_address = c->connections_per_address,
        .fronts = c->fronts,
        .front_count = c->front_count,
    };
    size_t descriptors = 0;

    limits.open[LISTENER_ORDERS] = c->connections;
    limits.open[LISTENER_ADMIN] = c->admin_connections;
    if (!descriptors_plan(c, CONNECTION_LISTENERS * HTTP_QUEUE_LENGTH, limits.open,
                          &descriptors))
        return false;
    service->connections = connections_new(descriptors, &limits);
    for (size_t i = 0; i < CONNECTION_LISTENERS; i++)
        http->planned[i] = limits.open[i];
    return service->connections != NULL;
}

static bool make_parts(struct http *http, struct service *service)
{
    const struct config *c = service->config;
    struct http_server_options options = {
        .request_timeout_ms = c->request_timeout_ms,
        .answer = exchange_answer,
        .arg = &http->desk,
    };

    if (!plan_connections(http, service))
        return false;
    service->workers[LISTENER_ORDERS] = worker_pool_new(service, c->workers);
    service->workers[LISTENER_ADMIN] = worker_pool_new(service, c->admin_workers);
    http->desk.refused = metrics_cell(service->metrics);
    options.connections = service->connections;
    http->server = http_server_new(&options);
    return service->workers[LISTENER_ORDERS] != NULL &&
           service->workers[LISTENER_ADMIN] != NULL && http->desk.refused != NULL &&
           http->server != NULL;
}

struct http *http_start(struct service *service)
{
    const struct config *c = service->config;
    struct http *http = calloc(1, sizeof(*http));

    if (http == NULL)
        return NULL;
    http->desk.service = service;
    if (make_parts(http, service) &&
        http_server_listen(http->server, LISTENER_ORDERS, c->listen,
                           http->planned[LISTENER_ORDERS]) &&
        http_server_listen(http->server, LISTENER_ADMIN, c->admin_listen,
                           http->planned[LISTENER_ADMIN]))
        return http;
    if (http->server != NULL)
        (void)http_drain(http, c->drain_timeout_ms);
    http_stop(http);
    return NULL;
}

int http_port(const struct http *http, enum listener_kind listener)
{
    return http_server_port(http->server, (int)listener);
}

bool http_drain(struct http *http, int64_t wait_ms)
{
    return http_server_drain(http->server, wait_ms);
}

void http_stop(struct http *http)
{
    struct service *service;

    if (http == NULL)
        return;
    service = http->desk.service;
    http_server_stop(http->server);
    for (size_t i = 0; i < CONNECTION_LISTENERS; i++) {
        worker_pool_free(service->workers[i]);
        service->workers[i] = NULL;
    }
    connections_free(service->connections);
    service->connections = NULL;
    free(http);
}
