/* SPDX-License-Identifier: MIT */
/* http_session.h -- what the two halves of the HTTP transport share.
 *
 * http.c starts and stops the listeners; http_session.c is what civetweb calls for each
 * connection and request.  Only these two files know civetweb.
 */
#ifndef APP_HTTP_SESSION_H
#define APP_HTTP_SESSION_H

#include <pthread.h>

#include "app/connections.h"
#include "app/routes.h"
#include "app/slots.h"

struct mg_callbacks;
struct mg_context;

enum { MAX_REQUEST_SIZE = GATE_HEAD_MAX + 1024 }; /* civetweb's buffer, and the intake's */

struct listener {
    struct http *http;
    enum listener_kind kind;
    struct mg_context *context;
    struct slots *slots;
    char host[64];
    int port;
    char trouble[160]; /* what civetweb said last while it started */
};

struct http {
    struct service *service;
    struct connections *connections;
    struct listener listeners[2];
    int64_t planned[2]; /* threads for connections, of each listener */
    pthread_mutex_t refused_mutex;
    struct metrics_cell *refused; /* counts requests that got no slot; under the mutex */
    atomic_bool is_draining;
    atomic_long in_flight; /* requests that have arrived and are not answered */
};

/* Set what civetweb is to call.  The user data of a context must be its struct listener. */
void session_callbacks(struct mg_callbacks *out);

#endif /* APP_HTTP_SESSION_H */
