/* SPDX-License-Identifier: MIT */
/* routes.h -- which method and path is whose; the one table is in routes.c. */
#ifndef APP_ROUTES_H
#define APP_ROUTES_H

#include "app/handlers.h"
#include "app/request.h"

/* The token that a route asks for. */
enum route_need {
    NEED_NOTHING,
    NEED_BUYER,    /* a token of this role, which says whose request it is */
    NEED_OPERATOR, /* likewise */
    NEED_ADMIN,    /* the admin token, a Host of the listener, no page of another site */
};

enum route_flags {
    ROUTE_BODY = 2,  /* it has a body; all others must have none */
    ROUTE_ORDER = 4, /* it places an order: counted by its outcome */
    ROUTE_FAULT = 8, /* it exists only where faults are allowed */
    ROUTE_NO_WORKER = 16, /* it is answered however busy the listener's workers are */
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

/* Does it ask for an order, whether it is let in or not? */
bool route_is_order(enum listener_kind listener, const struct gate_request *head);

/* Find the route of a request that passed the gate, see to it that the request proves what
 * the route needs, and read from its path and headers what the handler needs.  On the
 * listener for operators a request for a route that is not there needs what an operator's
 * route does.  NULL: the refusal was written to `an`. */
const struct route *route_admit(enum listener_kind listener, struct request *rq,
                                struct answer *an);

#endif /* APP_ROUTES_H */
