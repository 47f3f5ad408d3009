/* SPDX-License-Identifier: MIT */
/* routes.c -- the table of routes, and the checks before a handler. */
#include "app/routes.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>

static const struct route ROUTES[] = {
#define ORDERS(method, path, face, needs, flags, handler)                              \
    {LISTENER_ORDERS, method, path, face, needs, flags, handler},
#define ADMIN(method, path, needs, flags, handler)                                     \
    {LISTENER_ADMIN, method, path, FACE_API, needs, flags, handler},
    ORDERS("POST", "/voucher-order/seckill/{id}", FACE_COURSE, NEED_BUYER, ROUTE_ORDER,
           api_order_course)
    ORDERS("POST", "/voucher/seckill", FACE_COURSE, NEED_OPERATOR, ROUTE_BODY,
           api_voucher_course)
    ORDERS("GET", "/voucher/list/{id}", FACE_COURSE, NEED_NOTHING, 0,
           api_voucher_list_course)
    ORDERS("POST", "/api/v1/vouchers/{id}/orders", FACE_API, NEED_BUYER, ROUTE_ORDER,
           api_order)
    ORDERS("POST", "/api/v1/vouchers", FACE_API, NEED_OPERATOR, ROUTE_BODY, api_voucher)
    ORDERS("GET", "/api/v1/vouchers", FACE_API, NEED_NOTHING, 0, api_voucher_list)
    ORDERS("GET", "/api/v1/vouchers/{id}", FACE_API, NEED_NOTHING, 0, api_voucher_find)
    ORDERS("GET", "/api/v1/orders/{id}", FACE_API, NEED_BUYER, 0, api_order_find)
    ORDERS("GET", "/api/v1/requests/{word}", FACE_API, NEED_BUYER, 0, api_request_find)
    ADMIN("GET", "/livez", NEED_NOTHING, ROUTE_NO_WORKER, admin_live)
    ADMIN("GET", "/readyz", NEED_NOTHING, ROUTE_NO_WORKER, admin_ready)
    ADMIN("GET", "/metrics", NEED_ADMIN, 0, admin_metrics)
    ADMIN("GET", "/config", NEED_ADMIN, 0, admin_config)
    ADMIN("GET", "/admin/locks/{name}", NEED_ADMIN, 0, admin_lock_show)
    ADMIN("DELETE", "/admin/locks/{name}", NEED_ADMIN, 0, admin_lock_force)
    ADMIN("GET", "/faults", NEED_ADMIN, ROUTE_FAULT, admin_faults)
    ADMIN("POST", "/faults/arm", NEED_ADMIN, ROUTE_FAULT, admin_fault_arm)
    ADMIN("POST", "/faults/release", NEED_ADMIN, ROUTE_FAULT, admin_fault_release)
#undef ORDERS
#undef ADMIN
};

enum { ROUTE_COUNT = sizeof(ROUTES) / sizeof(ROUTES[0]) };

const struct route *route_at(size_t i)
{
    return i < ROUTE_COUNT ? &ROUTES[i] : NULL;
}

/* Does the path fit the pattern?  `param` gets the text in place of {id} or {word}. */
static bool fits(const char *pattern, const char *path, char *param, size_t size)
{
    const char *brace = strchr(pattern, '{');
    size_t prefix = brace != NULL ? (size_t)(brace - pattern) : strlen(pattern);
    const char *suffix = NULL;
    size_t n = 0;

    param[0] = '\0';
    if (brace == NULL)
        return strcmp(pattern, path) == 0;
    if (strncmp(pattern, path, prefix) != 0)
        return false;
    suffix = strchr(brace, '}') + 1;
    n = strcspn(path + prefix, "/");
    if (n >= size || strcmp(path + prefix + n, suffix) != 0)
        return false;
    memcpy(param, path + prefix, n);
    param[n] = '\0';
    return true;
}

/* HEAD is routed like GET. */
static bool takes_method(const struct route *r, const char *method)
{
    return strcmp(r->method, strcmp(method, "HEAD") == 0 ? "GET" : method) == 0;
}

static const char *methods_of(const struct route *r)
{
    return strcmp(r->method, "GET") == 0 ? "GET, HEAD" : r->method;
}

/* The text for Allow, of a path that has this route and a route for GET. */
static const char *both_methods(const struct route *r)
{
    return strcmp(r->method, "DELETE") == 0 ? "GET, HEAD, DELETE" : "GET, HEAD, POST";
}

/* Find the route for this path and method.  If only the method is wrong, *allow has the
 * right ones. */
static const struct route *find(enum listener_kind listener, const struct request *rq,
                                char *param, size_t size, const char **allow)
{
    const struct config *c = rq->service->config;

    for (size_t i = 0; i < ROUTE_COUNT; i++) {
        const struct route *r = &ROUTES[i];

        if (r->listener != listener || ((r->flags & ROUTE_FAULT) && !c->allow_faults) ||
            !fits(r->path, rq->head->uri, param, size))
            continue;
        if (takes_method(r, rq->head->method))
            return r;
        *allow = *allow == NULL ? methods_of(r) : both_methods(r);
    }
    return NULL;
}

bool route_is_order(enum listener_kind listener, const struct gate_request *head)
{
    char param[GATE_URI_MAX + 1];

    for (size_t i = 0; i < ROUTE_COUNT; i++)
        if (ROUTES[i].listener == listener && (ROUTES[i].flags & ROUTE_ORDER) &&
            takes_method(&ROUTES[i], head->method) &&
            fits(ROUTES[i].path, head->uri, param, sizeof(param)))
            return true;
    return false;
}

/* The token of the request, after the word Bearer or alone.  NULL: there is none. */
static const char *bearer(const struct request *rq)
{
    const char *token = request_header(rq, "authorization");

    return token != NULL && strncasecmp(token, "Bearer ", 7) == 0 ? token + 7 : token;
}

/* Check that the request has a token of the route's role.  False: the refusal is
 * written. */
static bool read_token(const struct route *route, struct request *rq,
                       enum token_role role, struct answer *an)
{
    const char *token = bearer(rq);
    struct token_claim claim;
    enum token_verdict verdict;

    if (token == NULL) {
        answer_outcome(rq, an, route->face, OUTCOME_UNAUTHORIZED,
                       "the header authorization is missing");
        return false;
    }
    verdict = token_verify(&rq->service->keys, token, token_now_s(), &claim);
    if (verdict != TOKEN_GOOD) {
        an->refused = token_verdict_text(verdict);
        answer_outcome(rq, an, route->face, OUTCOME_UNAUTHORIZED, an->refused);
        return false;
    }
    if (claim.role != role) {
        an->refused = role == TOKEN_OPERATOR ? "this needs an operator's token"
                                             : "this needs a buyer's token";
        answer_outcome(rq, an, route->face, OUTCOME_FORBIDDEN, an->refused);
        return false;
    }
    rq->user_id = claim.user_id;
    return true;
}

/* Check the admin token, the Host and the Origin.  False: the refusal is written. */
static bool is_from_operator(const struct request *rq, struct answer *an)
{
    const struct admin_origin from = {
        .host = request_header(rq, "Host"),
        .origin = request_header(rq, "Origin"),
        .fetch_site = request_header(rq, "Sec-Fetch-Site"),
    };
    const char *given = request_header(rq, "Authorization");
    const char *token = given != NULL && strncasecmp(given, "Bearer ", 7) == 0 ? given + 7
                                                                               : NULL;
    enum admin_verdict verdict =
        admin_access_check(&rq->service->admin_access, &from, token);
    bool is_foreign = verdict == ADMIN_FOREIGN_HOST || verdict == ADMIN_FOREIGN_ORIGIN;

    if (verdict == ADMIN_ALLOWED)
        return true;
    if (verdict == ADMIN_WRONG_TOKEN)
        an->refused = admin_verdict_text(verdict);
    answer_outcome(rq, an, FACE_API, is_foreign ? OUTCOME_FORBIDDEN : OUTCOME_UNAUTHORIZED,
                   admin_verdict_text(verdict));
    return false;
}

/* Check the token that the route needs.  False: the refusal is written. */
static bool proves_its_need(const struct route *route, struct request *rq,
                            struct answer *an)
{
    switch (route->needs) {
    case NEED_BUYER:
        return read_token(route, rq, TOKEN_BUYER, an);
    case NEED_OPERATOR:
        return read_token(route, rq, TOKEN_OPERATOR, an);
    case NEED_ADMIN: /* checked before the route was found */
    case NEED_NOTHING:
        break;
    }
    return true;
}

/* Check that the request has a body exactly if the route needs one.  False: the refusal
 * is written. */
static bool body_fits(const struct route *route, const struct request *rq,
                      struct answer *an)
{
    int64_t limit = rq->service->config->body_limit;

    if (rq->gate.body_bytes > limit)
        answer_outcome(rq, an, route->face, OUTCOME_TOO_LARGE, "the body is too large");
    else if (!(route->flags & ROUTE_BODY) && rq->gate.body_bytes > 0)
        answer_outcome(rq, an, route->face, OUTCOME_BAD_REQUEST,
                       "no body belongs to this request");
    else if ((route->flags & ROUTE_BODY) && !rq->gate.has_length)
        answer_status(rq, an, route->face, OUTCOME_BAD_REQUEST, 411,
                      "Content-Length is missing");
    else
        return true;
    return false;
}

static bool read_param(const struct route *route, struct request *rq, const char *param,
                       struct answer *an)
{
    const char *wrong = NULL;

    if (strstr(route->path, "{id}") != NULL)
        wrong = ident_parse(param, &rq->number);
    else if (strstr(route->path, "{word}") != NULL && !ident_is_request_id(param))
        wrong = "not the id of a request";
    if (wrong != NULL)
        answer_outcome(rq, an, route->face, OUTCOME_BAD_REQUEST, wrong);
    return wrong == NULL;
}

const struct route *route_admit(enum listener_kind listener, struct request *rq,
                                struct answer *an)
{
    /* The word of a route, in memory of the thread, which serves one request at a
     * time. */
    static _Thread_local char param[GATE_URI_MAX + 1];
    const char *allow = NULL;
    const struct route *route = find(listener, rq, param, sizeof(param), &allow);

    if (listener == LISTENER_ADMIN && (route == NULL || route->needs == NEED_ADMIN) &&
        !is_from_operator(rq, an))
        return NULL;
    if (route == NULL && allow != NULL) {
        answer_outcome(rq, an, rq->face, OUTCOME_METHOD_NOT_ALLOWED, NULL);
        an->allow = allow;
        return NULL;
    }
    if (route == NULL) {
        answer_outcome(rq, an, rq->face, OUTCOME_NOT_FOUND, NULL);
        return NULL;
    }
    rq->word = param;
    if (!body_fits(route, rq, an))
        return NULL;
    if (!proves_its_need(route, rq, an))
        return NULL;
    return read_param(route, rq, param, an) ? route : NULL;
}
