/* SPDX-License-Identifier: MIT */
/* empty_handler.h -- an HTTP server whose handler does nothing, which shows the limit of the
 * listener of seckilld with civetweb and the request gate.
 *
 * Threads     The laboratory's main one; the server is a process of its own.
 */
#ifndef LOADTEST_BENCH_EMPTY_HANDLER_H
#define LOADTEST_BENCH_EMPTY_HANDLER_H

#include "loadtest/kit/child.h"

enum { EMPTY_HANDLER_URL_MAX = 64 };

struct empty_handler {
    struct child child;
    char url[EMPTY_HANDLER_URL_MAX];
};

/* Start the server on a free port, for so many connections.  Every request is answered with an
 * empty JSON object and `X-Outcome: accepted`.  False: the reason is on stderr. */
bool empty_handler_start(struct empty_handler *handler, int connections);

void empty_handler_stop(struct empty_handler *handler);

#endif /* LOADTEST_BENCH_EMPTY_HANDLER_H */
