/* SPDX-License-Identifier: MIT */
/* server.h -- listeners for HTTP, their threads, and the requests that come in.
 *
 * The server reads requests, lets the gate (gate.h) judge their heads, and calls a function
 * of the program for each, which writes the answer (exchange.h).  server.c and session.c
 * alone include civetweb.
 *
 * Threads     One thread calls these functions; each connection has a thread of its own,
 *             which calls answer().
 */
#ifndef BASE_HTTP_SERVER_H
#define BASE_HTTP_SERVER_H

#include "base/http/connections.h"
#include "base/http/exchange.h"

struct http_server; /* opaque */

struct http_server_options {
    struct connections *connections; /* lent: it must outlive the server */
    int64_t request_timeout_ms;      /* for a head, and for a body */
    http_answer_fn *answer;
    void *arg;
};

/* Connections that were accepted and wait for a thread, at each listener; they need file
 * descriptors. */
enum { HTTP_QUEUE_LENGTH = 64 };

/* A server without listeners; at most one at a time.  NULL: no memory. */
struct http_server *http_server_new(const struct http_server_options *options);

/* Listen on `address`, with a thread for each of `threads` connections.  `listener` is below
 * CONNECTION_LISTENERS.  False: the log says why. */
bool http_server_listen(struct http_server *server, int listener, const char *address,
                        int64_t threads);

/* The port that it listens on. */
int http_server_port(const struct http_server *server, int listener);

/* Tell answer() that the server drains, and wait until no request is in work.  False:
 * `wait_ms` passed and some are; the log says how many. */
bool http_server_drain(struct http_server *server, int64_t wait_ms);

/* Stop listening, end every thread, and free.  Nothing may be in work.  NULL is fine. */
void http_server_stop(struct http_server *server);

#endif /* BASE_HTTP_SERVER_H */
