/* SPDX-License-Identifier: MIT */
/* stream.c -- a script in Redis lets the order in, and a writer makes its row later.
 *
 * The client gets `queued` and a number when the order is in the stream of
 * app/stream.h.  This promise is as durable as that Redis.  The rows are written by a
 * thread of each process (app/stream_writer.h), which takes the lock; the script takes
 * none.
 *
 * A process copies the stock of a voucher from PostgreSQL into Redis when Redis does
 * not have it. */
#include "app/order_sale.h"
#include "app/stream.h"
#include "app/stream_writer.h"
#include "base/text/duration.h"
#include "db/voucher.h"

enum { ASKS_MAX = 4 }; /* calls of the script for one order; other orders may take the
                        * copied stock meanwhile */

/* Copy the stock from PostgreSQL into Redis.  ACCEPTED: there is stock, so call the
 * script again. */
static enum outcome tell_stock(struct worker *w, const struct stream_order *order,
                               const struct stream_admission *seen)
{
    enum outcome outcome = worker_take_db(w);
    int64_t stock = 0;
    bool is_found = false;
    enum db_status st;

    if (outcome != OUTCOME_ACCEPTED)
        return outcome;
    st = voucher_find_stock(w->db, order->voucher_id, &stock, &is_found);
    outcome = st == DB_OK ? OUTCOME_ACCEPTED : worker_db_failed(w, st);
    worker_give_db(w);
    if (outcome == OUTCOME_ACCEPTED && !is_found)
        return OUTCOME_UNKNOWN_VOUCHER;
    if (outcome == OUTCOME_ACCEPTED && stock < 1)
        return OUTCOME_SOLD_OUT;
    if (outcome == OUTCOME_ACCEPTED &&
        !stream_tell_stock(w->service->stream, order, seen, stock))
        return OUTCOME_UNAVAILABLE;
    return outcome;
}

static enum outcome sold_out(struct worker *w, int64_t voucher_id, int64_t asked_ns)
{
    sold_out_note(&w->service->sold_out, voucher_id, asked_ns);
    metrics_count(&w->cell->stopped[LAYER_SCRIPT]);
    return OUTCOME_SOLD_OUT;
}

/* The request came before: find its order, which has its row or is queued. */
static enum outcome find_again(struct order_attempt *attempt, int64_t order_id)
{
    struct worker *w = attempt->worker;
    enum outcome outcome = worker_take_db(w);
    bool is_new = false;

    if (outcome == OUTCOME_ACCEPTED)
        outcome = order_replay(w, attempt->request, &attempt->placed, &is_new);
    worker_give_db(w);
    if (!is_new)
        return outcome;
    attempt->placed = (struct order_placed){order_id, true};
    return OUTCOME_QUEUED;
}

/* The outcome of the script's answer.  ACCEPTED: the stock was copied, so call the
 * script once more. */
static enum outcome conclude(struct order_attempt *attempt, const struct stream_order *order,
                             enum stream_answer answer, const struct stream_admission *got,
                             int64_t asked_ns)
{
    struct worker *w = attempt->worker;
    enum outcome outcome;

    switch (answer) {
    case STREAM_QUEUED:
        metrics_count(&w->cell->stream_queued);
        attempt->placed.order_id = got->order_id;
        stream_writer_nudge(w->service->stream_writer);
        return OUTCOME_QUEUED;
    case STREAM_AGAIN:
        return find_again(attempt, got->order_id);
    case STREAM_CONFLICT:
        return OUTCOME_CONFLICT;
    case STREAM_BOUGHT:
        metrics_count(&w->cell->stopped[LAYER_SCRIPT]);
        return OUTCOME_DUPLICATE;
    case STREAM_FULL:
        return OUTCOME_QUEUE_FULL;
    case STREAM_SOLD_OUT:
    case STREAM_NO_STOCK:
        outcome = got->queued > 0 && answer == STREAM_SOLD_OUT ? OUTCOME_SOLD_OUT
                                                               : tell_stock(w, order, got);
        return outcome == OUTCOME_SOLD_OUT ? sold_out(w, order->voucher_id, asked_ns)
                                           : outcome;
    case STREAM_UNANSWERED:
    case STREAM_FAILED:
        break;
    }
    readiness_fail(w->service->readiness, READINESS_STREAM, 0, dlock_error());
    return answer == STREAM_UNANSWERED ? OUTCOME_UNKNOWN : OUTCOME_UNAVAILABLE;
}

/* After an unanswered call of the script, a refusal of a later call is UNKNOWN, because
 * the first call may still be executed.  A conflict stays a conflict, because the first
 * call would get the same answer. */
static enum outcome doubt(enum outcome outcome)
{
    return outcome == OUTCOME_ACCEPTED || outcome == OUTCOME_QUEUED ||
                   outcome == OUTCOME_CONFLICT
               ? outcome
               : OUTCOME_UNKNOWN;
}

static enum outcome sell(struct order_attempt *attempt)
{
    const struct stream_order order = {
        .voucher_id = attempt->request->voucher_id,
        .user_id = attempt->request->user_id,
        .request_id = attempt->request->request_id,
        .trace_id = attempt->request->trace_id,
        .admitted_us = attempt->admitted_us,
        .sale_end_us = attempt->sale_end_us,
    };
    struct stream *stream = attempt->worker->service->stream;
    bool is_in_doubt = false;

    for (int i = 0; i < ASKS_MAX; i++) {
        struct stream_admission got;
        int64_t asked_ns = monotonic_ns();
        enum stream_answer answer = stream_admit(stream, &order, &got);
        enum outcome outcome = conclude(attempt, &order, answer, &got, asked_ns);

        is_in_doubt = is_in_doubt || got.may_be_let_in;
        if (outcome != OUTCOME_ACCEPTED || answer == STREAM_AGAIN)
            return is_in_doubt ? doubt(outcome) : outcome;
    }
    return is_in_doubt ? OUTCOME_UNKNOWN : OUTCOME_UNAVAILABLE;
}

const struct order_path order_path_stream = {
    .name = "stream",
    .sell = sell,
};
