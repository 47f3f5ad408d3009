/* SPDX-License-Identifier: MIT */
/* exchange.c -- answers one request: gives it an id, finds its route, reads its body,
 * calls its handler. */
#include "app/exchange.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "base/os/clock.h"

/* The fields of struct request, in the order in which the log has them. */
enum { FIELD_VOUCHER, FIELD_OUTCOME, FIELD_STATUS, FIELD_DURATION, FIELD_TRACE, FIELD_SPAN };

/* Count an answer in which the service fails.  Log it, one that refuses for want of room, and at
 * --log-level=debug each one of a trace.  Each outcome has its own limit, and so its number. */
static void log_answer(const struct http_exchange *x, struct request *rq, const struct answer *an)
{
    static struct limited failed[OUTCOME_COUNT];
    const char *name = outcome_info(an->outcome)->name;
    long long duration_ms = (dlock_clock_ns() - x->start_ns) / DLOCK_NS_PER_MS;
    bool fails = x->listener == LISTENER_ORDERS && outcome_is_failure(an->outcome);

    if (fails)
        atomic_fetch_add(&rq->service->failed, 1);
    rq->fields[FIELD_OUTCOME] = (struct log_field){"outcome", name, 0};
    rq->fields[FIELD_STATUS] = (struct log_field){"status", NULL, an->status};
    rq->fields[FIELD_DURATION] = (struct log_field){"duration_ms", NULL, duration_ms};
    if (fails || an->outcome == OUTCOME_ADMISSION_FULL)
        limited_line(&failed[an->outcome], LOG_WARN, LIMITED_SOME,
                     "request %s was answered %d %s", rq->id, an->status, name);
    else if (rq->is_traced)
        log_debug("request %s was answered %d %s", rq->id, an->status, name);
}

/* Count an answer of the listener for orders by its outcome, also if the request was
 * refused early. */
static void count(struct metrics_cell *cell, const struct gate_request *head,
                  const struct answer *an, int64_t start_ns)
{
    bool is_order = route_is_order(LISTENER_ORDERS, head);

    metrics_record_duration(&cell->request_time[is_order ? METRICS_ORDER : METRICS_OTHER],
                     dlock_clock_ns() - start_ns);
    if (is_order)
        metrics_count(&cell->orders[an->is_replay ? METRICS_REPLAYED : (int)an->outcome]);
}

/* No path can name an order by "." or "..". */
static bool is_dots(const char *key)
{
    return strcmp(key, ".") == 0 || strcmp(key, "..") == 0;
}

/* Set the id of the request: its Idempotency-Key, or a new id.  Returns NULL, or what is
 * wrong with the key. */
static const char *name_request(struct request *rq)
{
    size_t given = 0;
    const char *key = NULL;

    for (size_t i = 0; i < rq->head->header_count; i++) {
        if (strcasecmp(rq->head->headers[i].name, "Idempotency-Key") != 0)
            continue;
        key = rq->head->headers[i].value;
        given++;
    }
    rq->is_named_by_client = given == 1 && ident_is_request_id(key) && !is_dots(key);
    if (rq->is_named_by_client)
        (void)snprintf(rq->id, sizeof(rq->id), "%s", key);
    else
        ident_make_request_id(rq->id);
    if (given > 1)
        return "Idempotency-Key must be there once, not twice";
    return given == 0 || rq->is_named_by_client
               ? NULL
               : "Idempotency-Key must be 1 to 64 of A-Z a-z 0-9 _ . : -, but not \".\" or \"..\"";
}

/* Set the trace of the request, with a new span for the work here.  An invalid header,
 * or two headers, count as none, because the trace does not influence the work. */
static void trace_request(struct request *rq)
{
    const char *value = NULL;
    size_t given = 0;

    for (size_t i = 0; i < rq->head->header_count; i++)
        if (strcasecmp(rq->head->headers[i].name, "traceparent") == 0) {
            value = rq->head->headers[i].value;
            given++;
        }
    rq->is_traced = given == 1 && trace_parse(value, &rq->trace);
    if (!rq->is_traced)
        return;
    trace_enter_span(&rq->trace);
    rq->fields[FIELD_TRACE] = (struct log_field){"trace_id", rq->trace.trace_id, 0};
    rq->fields[FIELD_SPAN] = (struct log_field){"span_id", rq->trace.span_id, 0};
}

/* Refuse a request, and close its connection, because the following bytes may not be a
 * request. */
static void refuse(const struct request *rq, struct answer *an, int status,
                   const char *why)
{
    enum outcome outcome = OUTCOME_BAD_REQUEST;

    if (status == 413 || status == 414 || status == 431)
        outcome = OUTCOME_TOO_LARGE;
    if (status == 501)
        outcome = OUTCOME_METHOD_NOT_ALLOWED;
    answer_status(rq, an, rq->face, outcome, status, why);
}

/* The same with the gate's verdict; the text names the line of the head. */
static void refuse_head(const struct request *rq, struct answer *an)
{
    char why[256];

    if (rq->gate.line > 0)
        (void)snprintf(why, sizeof(why), "line %zu of the head: %s", rq->gate.line,
                       rq->gate.why);
    else
        (void)snprintf(why, sizeof(why), "%s", rq->gate.why);
    refuse(rq, an, rq->gate.status, why);
}

/* Refuse a request that no worker became free for. */
static void refuse_for_want_of_workers(const struct http_exchange *x,
                                       const struct request *rq, struct answer *an)
{
    const struct config *c = rq->service->config;
    bool is_for_orders = x->listener == LISTENER_ORDERS;

    LIMITED_WARN("a request was refused: each of %s=%lld was busy for %lld ms (--worker-wait)",
                 is_for_orders ? "--workers" : "--admin-workers",
                 (long long)(is_for_orders ? c->workers : c->admin_workers),
                 (long long)c->worker_wait_ms);
    answer_outcome(rq, an, rq->face, OUTCOME_UNAVAILABLE,
                   "every worker was busy for as long as --worker-wait allows");
}

/* Take a worker and let the route answer.  The worker is given back before this returns. */
static void work(struct http_exchange *x, struct request *rq, const struct route *route,
                 struct answer *an)
{
    struct worker_pool *workers = rq->service->workers[x->listener];
    bool needs_worker = !(route->flags & ROUTE_NO_WORKER);

    if (http_is_draining(x) && x->listener == LISTENER_ORDERS) {
        answer_outcome(rq, an, rq->face, OUTCOME_UNAVAILABLE, "the service is stopping");
        an->closes = true;
        return;
    }
    if (needs_worker)
        rq->worker = worker_pool_take(workers, rq->service->config->worker_wait_ms);
    if (needs_worker && rq->worker == NULL) {
        refuse_for_want_of_workers(x, rq, an);
        return;
    }
    route->handler(rq, an);
    if (rq->worker != NULL && x->listener == LISTENER_ORDERS)
        count(rq->worker->cell, rq->head, an, x->start_ns);
    worker_pool_give(workers, rq->worker);
}

/* Find the route of a request, check its token, and read its body.  NULL: it was
 * refused. */
static const struct route *admit(struct http_exchange *x, struct request *rq,
                                 struct answer *an)
{
    const struct route *route = NULL;
    const char *wrong = NULL;
    const char *wrong_key = name_request(rq);

    if (rq->gate.status != 0) {
        refuse_head(rq, an);
    } else if (wrong_key != NULL) {
        refuse(rq, an, 400, wrong_key);
    } else if (x->is_over) {
        answer_outcome(rq, an, rq->face, OUTCOME_ADDRESS_FULL,
                       "this address has more connections than "
                       "--connections-per-address allows, all with a request in progress");
    } else {
        route = route_admit((enum listener_kind)x->listener, rq, an);
        an->closes = rq->gate.body_bytes > 0; /* while the body is unread */
    }
    if (route == NULL)
        return NULL;
    if (route->flags & ROUTE_ORDER)
        rq->fields[FIELD_VOUCHER] = (struct log_field){"voucher", NULL, rq->number};
    wrong = http_read_body(x, &rq->body, &rq->body_len);
    if (wrong != NULL) {
        refuse(rq, an, 408, wrong);
        return NULL;
    }
    an->closes = false;
    return route;
}

/* Answer a request.  False: the connection was ended while the request arrived, and
 * nothing was done. */
static bool answer_request(struct exchange_desk *desk, struct http_exchange *x,
                           struct request *rq, struct answer *an)
{
    const struct route *route = admit(x, rq, an);
    bool is_wanted = http_begin_work(x);

    if (is_wanted && route != NULL)
        work(x, rq, route, an);
    if (is_wanted && rq->worker == NULL && x->listener == LISTENER_ORDERS)
        count(desk->refused, rq->head, an, x->start_ns);
    return is_wanted;
}

void exchange_answer(void *arg, struct http_exchange *x)
{
    struct exchange_desk *desk = arg;
    struct request rq = {
        .service = desk->service,
        .head = x->head,
        .gate = x->gate,
        .face = x->listener == LISTENER_ORDERS ? face_of(x->head->uri) : FACE_API,
    };
    struct answer an = {.body = x->body, /* a 500 until a handler sets it */
                        .outcome = OUTCOME_INTERNAL,
                        .status = 500,
                        .type = "text/plain",
                        .closes = true};
    bool is_wanted = true;

    if (x->is_unreadable) {
        ident_make_request_id(rq.id);
        refuse_head(&rq, &an);
    } else {
        if (rq.gate.status == 0)
            trace_request(&rq);
        (void)log_set_fields(rq.fields);
        is_wanted = answer_request(desk, x, &rq, &an);
        if (is_wanted)
            log_answer(x, &rq, &an);
        (void)log_set_fields(NULL);
    }
    if (!is_wanted) {
        x->status = an.status;
        return;
    }
    /* A client that kept its connection would send requests after the stop. */
    x->closes = an.closes || http_must_close(x) ||
                (x->listener == LISTENER_ORDERS && atomic_load(&desk->service->is_leaving));
    answer_write(&rq, &an, x->closes, x->answer);
    x->status = an.status;
}
