/* SPDX-License-Identifier: MIT */
/* session.h -- the functions that civetweb calls for each connection and request.
 *
 * server.c starts and stops the listeners.  No file but these two includes civetweb.
 */
#ifndef BASE_HTTP_SESSION_H
#define BASE_HTTP_SESSION_H

#include <stdatomic.h>

#include "base/http/connections.h"
#include "base/http/exchange.h"

struct mg_callbacks;
struct mg_context;

enum { MAX_REQUEST_SIZE = GATE_HEAD_MAX + 1024 }; /* civetweb's buffer, and `received`'s */

/* The part that the sessions of all listeners share. */
struct session_shared {
    struct connections *connections;
    int64_t request_timeout_ms; /* for a body */
    http_answer_fn *answer;
    void *arg;
    atomic_bool is_draining;
    atomic_long in_work; /* requests in progress */
};

struct listener {
    struct session_shared *shared;
    int number;
    struct mg_context *context;
    char host[64];
    int port;
    char trouble[160]; /* civetweb's last message while it started */
};

/* Set the functions that civetweb calls.  The user data of a context must be its struct
 * listener. */
void session_callbacks(struct mg_callbacks *out);

#endif /* BASE_HTTP_SESSION_H */
