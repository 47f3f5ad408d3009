/* SPDX-License-Identifier: MIT */
/* api_orders.c -- orders over HTTP: placing an order, finding an order. */
#include <inttypes.h>
#include <stdio.h>

#include "app/order.h"
#include "app/handlers.h"
#include "app/stream.h"
#include "db/order.h"
#include "db/partition.h"

static enum outcome place(const struct request *rq, struct answer *an,
                          int64_t *order_id)
{
    const struct order_request order = {
        .user_id = rq->user_id,
        .voucher_id = rq->number,
        .request_id = rq->id,
        .is_named_by_client = rq->is_named_by_client,
        .trace_id = request_trace_id(rq),
    };
    struct order_placed placed = {0};
    enum outcome outcome = order_place(rq->worker, &order, &placed);

    *order_id = placed.order_id;
    an->is_replay = outcome == OUTCOME_ACCEPTED && placed.is_replay;
    return outcome;
}

/* The course face answers a queued order like an accepted one. */
void api_order_course(const struct request *rq, struct answer *an)
{
    int64_t order_id = 0;
    enum outcome outcome = place(rq, an, &order_id);

    if (outcome != OUTCOME_ACCEPTED && outcome != OUTCOME_QUEUED) {
        answer_outcome(rq, an, FACE_COURSE, outcome, NULL);
        return;
    }
    an->outcome = outcome;
    answer_json(an, 200);
    text_add(an->body, "{\"success\":true,\"data\":%" PRId64 "}", order_id);
}

/* Numbers are written as texts, because a browser's numbers are exact only up to
 * 2^53. */
static void write_order(struct answer *an, int status, int64_t order_id,
                        int64_t voucher_id, int64_t user_id)
{
    answer_json(an, status);
    text_add(an->body,
             "{\"id\":\"%" PRId64 "\",\"voucherId\":\"%" PRId64
             "\",\"userId\":\"%" PRId64 "\"}",
             order_id, voucher_id, user_id);
}

/* Write the state of a request.  `id` is the number of its order, or 0; `detail` is a
 * sentence, or NULL. */
static void write_request(struct answer *an, int status, const char *request_id,
                          const char *outcome, int64_t id, int64_t voucher_id,
                          const char *detail)
{
    answer_json(an, status);
    text_add(an->body, "{\"requestId\":\"%s\",\"outcome\":\"%s\"", request_id, outcome);
    if (id != 0)
        text_add(an->body, ",\"id\":\"%" PRId64 "\"", id);
    if (voucher_id != 0)
        text_add(an->body, ",\"voucherId\":\"%" PRId64 "\"", voucher_id);
    if (detail != NULL)
        text_add(an->body, ",\"detail\":\"%s\"", detail);
    text_add(an->body, "}");
}

/* Answer with a queued order, which has a number but no row, so the Location is that of
 * its request. */
static void answer_queued(const struct request *rq, struct answer *an, int64_t order_id)
{
    an->outcome = OUTCOME_QUEUED;
    write_request(an, 202, rq->id, "queued", order_id, rq->number, NULL);
    (void)snprintf(an->location, sizeof(an->location), "/api/v1/requests/%s", rq->id);
}

void api_order(const struct request *rq, struct answer *an)
{
    int64_t order_id = 0;
    enum outcome outcome = place(rq, an, &order_id);

    if (outcome == OUTCOME_QUEUED) {
        answer_queued(rq, an, order_id);
        return;
    }
    if (outcome != OUTCOME_ACCEPTED) {
        answer_outcome(rq, an, FACE_API, outcome, NULL);
        return;
    }
    an->outcome = outcome;
    write_order(an, 201, order_id, rq->number, rq->user_id);
    (void)snprintf(an->location, sizeof(an->location), "/api/v1/orders/%" PRId64,
                   order_id);
}

/* Look for the order in one database. */
static enum outcome find_in(const struct request *rq, size_t partition, bool is_by_number,
                            struct order_found *order)
{
    struct worker *w = rq->worker;
    enum outcome outcome = worker_enter(w, partition);
    enum db_status st;

    *order = (struct order_found){0};
    if (outcome == OUTCOME_ACCEPTED)
        outcome = worker_take_db(w);
    if (outcome == OUTCOME_ACCEPTED) {
        st = is_by_number ? order_find(w->db, rq->number, order)
                          : order_find_request(w->db, rq->user_id, rq->word, order);
        outcome = st == DB_OK ? OUTCOME_ACCEPTED : worker_db_failed(w, st);
    }
    worker_give_db(w);
    worker_leave(w);
    return outcome;
}

/* The databases to ask for an order: `asked` of them, from `first` on. */
struct search {
    bool is_by_number;
    size_t first, asked;
};

/* Find an order by its number, or by the id of its request.  If a database did not
 * answer, the order may be there, so its absence is not certain.  False: the answer is
 * written. */
static bool find(const struct request *rq, struct answer *an, struct search search,
                 struct order_found *order)
{
    size_t count = partitions_count(rq->service->databases);
    enum outcome outcome = OUTCOME_ACCEPTED;

    for (size_t i = 0; i < search.asked; i++) {
        enum outcome one =
            find_in(rq, (search.first + i) % count, search.is_by_number, order);

        if (one != OUTCOME_ACCEPTED)
            outcome = one;
        else if (order->found)
            return true;
    }
    if (outcome != OUTCOME_ACCEPTED)
        answer_outcome(rq, an, FACE_API, outcome, NULL);
    return outcome == OUTCOME_ACCEPTED;
}

void api_order_find(const struct request *rq, struct answer *an)
{
    size_t count = partitions_count(rq->service->databases);
    struct search search = {true, partition_of_order(rq->number, count), count};
    struct order_found order;

    if (!find(rq, an, search, &order))
        return;
    /* For another user's order the answer is the same as for an order that does not
     * exist. */
    if (!order.found || order.user_id != rq->user_id) {
        answer_outcome(rq, an, FACE_API, OUTCOME_NOT_FOUND, NULL);
        return;
    }
    an->outcome = OUTCOME_ACCEPTED;
    write_order(an, 200, order.id, order.voucher_id, order.user_id);
}

/* Read the database to ask from ?voucher=; without it all databases are asked.  False:
 * its value names no database. */
static bool read_search(const struct request *rq, struct search *search)
{
    size_t count = partitions_count(rq->service->databases);
    int64_t voucher = 0;
    char text[24];

    *search = (struct search){.asked = count};
    if (!request_has_query(rq, "voucher"))
        return true;
    if (!request_query(rq, "voucher", text, sizeof(text)) ||
        ident_parse(text, &voucher) != NULL)
        return false;
    search->first = partition_of_voucher(voucher, count);
    search->asked = 1;
    return search->first < count;
}

/* A queued order may be written at any moment.  So the stream is asked before
 * PostgreSQL: an order that is not in the stream any more has its row by then. */
void api_request_find(const struct request *rq, struct answer *an)
{
    struct stream *stream = rq->service->stream;
    struct stream_request queued = {.state = "none"};
    struct search search;
    struct order_found order;

    if (!read_search(rq, &search)) {
        answer_outcome(rq, an, FACE_API, OUTCOME_BAD_REQUEST,
                       "voucher must be the id of a voucher");
        return;
    }
    if (stream != NULL && !stream_find_request(stream, rq->user_id, rq->word, &queued)) {
        answer_outcome(rq, an, FACE_API, OUTCOME_UNAVAILABLE, NULL);
        return;
    }
    if (!find(rq, an, search, &order))
        return;
    an->outcome = OUTCOME_ACCEPTED;
    if (order.found)
        write_request(an, 200, rq->word, "accepted", order.id, order.voucher_id, NULL);
    else if (queued.order_id != 0)
        write_request(an, 200, rq->word, queued.state, queued.order_id, queued.voucher_id,
                      queued.is_queued ? "the order waits for its row"
                                       : "the order was queued and ended with this outcome");
    else
        write_request(an, 200, rq->word, "none", 0, 0,
                      "none so far; a request that is still under way may yet get an order");
}
