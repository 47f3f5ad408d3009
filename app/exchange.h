/* SPDX-License-Identifier: MIT */
/* exchange.h -- answers one request: gives it an id, finds its route, reads its body,
 * calls its handler. */
#ifndef APP_EXCHANGE_H
#define APP_EXCHANGE_H

#include "app/routes.h"
#include "app/worker_pool.h"
#include "base/http/exchange.h"

/* The part that all exchanges share. */
struct exchange_desk {
    struct service *service;
    struct metrics_cell *refused; /* the cell in which requests without a worker are
                                   * counted */
};

/* Answer a request; `desk` is a struct exchange_desk.  Called by any thread of the server. */
void exchange_answer(void *desk, struct http_exchange *x);

#endif /* APP_EXCHANGE_H */
