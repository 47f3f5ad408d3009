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

/* The limit, at each listener, of accepted connections that wait for a thread.  Each
 * needs a file descriptor. */
enum { HTTP_QUEUE_LENGTH = 64 };

/* Make a server without listeners; a process has at most one.  The caller ends it with
 * http_server_stop().  NULL: no memory. */
struct http_server *http_server_new(const struct http_server_options *options);

/* Listen on `address` (HOST:PORT), with `threads` threads, each for one connection at a
 * time.  `listener` is below CONNECTION_LISTENERS. False: the address cannot be used,
 * and the log says why. */
bool http_server_listen(struct http_server *server, int listener, const char *address,
                        int64_t threads);

/* The port of a listener, also if the address had port 0. */
int http_server_port(const struct http_server *server, int listener);

/* Make http_is_draining() true, and wait until no request is in progress.  False:
 * `wait_ms` have passed and some requests still are; the log says how many. */
bool http_server_drain(struct http_server *server, int64_t wait_ms);

/* Stop listening, end every thread, and free the server.  No request may be in
 * progress.  NULL is fine. */
void http_server_stop(struct http_server *server);

#endif /* BASE_HTTP_SERVER_H */
