/* SPDX-License-Identifier: MIT */
/* routes.h -- the routes: which handler answers which method and path; the one table is
 * in routes.c. */
#ifndef APP_ROUTES_H
#define APP_ROUTES_H

#include "app/handlers.h"
#include "app/request.h"

/* The token that a route asks for. */
enum route_need {
    NEED_NOTHING,
    NEED_BUYER,    /* a token of this role, which names the user of the request */
    NEED_OPERATOR, /* likewise */
    NEED_ADMIN,    /* the admin token, a Host of the listener, no page of another site */
};

enum route_flags {
    ROUTE_BODY = 2,  /* the request has a body; on all other routes it must have none */
    ROUTE_ORDER = 4, /* the route places an order, which is counted by its outcome */
    ROUTE_FAULT = 8, /* the route exists only with --allow-faults */
    ROUTE_NO_WORKER = 16, /* the request is answered even if all workers are busy */
};

struct route {
    enum listener_kind listener;
    const char *method; /* GET: HEAD as well */
    const char *path; /* {id} stands for a number, {word} for the id of a
                       * request, {name} for a lock; at most one of them */
    enum face face;
    enum route_need needs;
    unsigned flags;
    route_handler *handler;
};

/* The `i`th route, NULL past the last. */
const struct route *route_at(size_t i);

/* Does the request ask for an order, even if it is refused later? */
bool route_is_order(enum listener_kind listener, const struct gate_request *head);

/* Find the route of a request that passed the gate, check the token that the route
 * needs, and read the parameters of the handler from the path and the headers.  On the
 * listener for operators, a request without a route needs the admin token too.  NULL:
 * the refusal was written to `an`. */
const struct route *route_admit(enum listener_kind listener, struct request *rq,
                                struct answer *an);

#endif /* APP_ROUTES_H */
