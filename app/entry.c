/* SPDX-License-Identifier: MIT */
/* entry.c -- what every request goes through before its route. */
#include "app/entry.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "base/text/duration.h"

struct answer entry_empty_answer(struct text *body)
{
    text_clear(body);
    return (struct answer){
        .body = body,
        .outcome = OUTCOME_INTERNAL,
        .status = 500,
        .type = "text/plain",
        .closes = true,
    };
}

void entry_count(struct metrics_cell *cell, const struct gate_request *head,
                         const struct answer *an, int64_t start_ns)
{
    bool is_order = route_is_order(LISTENER_ORDERS, head);

    histogram_record(is_order ? &cell->order_time : &cell->other_time,
                     monotonic_ns() - start_ns);
    if (is_order)
        metrics_count(an->is_replay ? &cell->replayed
                                    : &cell->orders[an->outcome]);
}

bool entry_name_request(struct request *rq)
{
    size_t given = 0;
    const char *key = NULL;

    for (size_t i = 0; i < rq->head->header_count; i++) {
        if (strcasecmp(rq->head->headers[i].name, "Idempotency-Key") != 0)
            continue;
        key = rq->head->headers[i].value;
        given++;
    }
    rq->is_named_by_client = given == 1 && ident_is_request_id(key);
    if (rq->is_named_by_client)
        (void)snprintf(rq->id, sizeof(rq->id), "%s", key);
    else
        ident_make_request_id(rq->id);
    return given == 0 || rq->is_named_by_client;
}

void entry_refuse(const struct request *rq, struct answer *an, int status,
                      const char *why)
{
    enum outcome outcome = OUTCOME_BAD_REQUEST;

    if (status == 413 || status == 414 || status == 431)
        outcome = OUTCOME_TOO_LARGE;
    if (status == 501)
        outcome = OUTCOME_METHOD_NOT_ALLOWED;
    answer_status(rq, an, face_of(rq->head->uri), outcome, status, why);
}

void entry_refuse_head(const struct request *rq, struct answer *an)
{
    char why[256];

    if (rq->gate.line > 0)
        (void)snprintf(why, sizeof(why), "line %zu of the head: %s", rq->gate.line,
                       rq->gate.why);
    else
        (void)snprintf(why, sizeof(why), "%s", rq->gate.why);
    entry_refuse(rq, an, rq->gate.status, why);
}

/* An Upgrade ends the connection: civetweb changes no protocol, and does not go on. */
bool entry_wants_keep_alive(const struct gate_request *head)
{
    for (size_t i = 0; i < head->header_count; i++)
        if (strcasecmp(head->headers[i].name, "Upgrade") == 0)
            return false;
    for (size_t i = 0; i < head->header_count; i++)
        if (strcasecmp(head->headers[i].name, "Connection") == 0)
            return strcasestr(head->headers[i].value, "keep-alive") != NULL;
    return strcmp(head->version, "1.1") == 0;
}
