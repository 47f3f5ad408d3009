/* SPDX-License-Identifier: MIT */
/* order.c -- the steps of every order: window, admission, and the order path. */
#include "app/order.h"

#include "base/text/duration.h"
#include "app/order_path.h"
#include "app/order_sale.h"
#include "app/sale_window.h"
#include "app/stream.h"
#include "db/partition.h"
#include "db/voucher.h"

static void count_stop(struct worker *w, enum metrics_layer layer)
{
    metrics_count(&w->cell->stopped[layer]);
}

/* Ask the admission.  ACCEPTED: the order is let in.  If Redis does not answer, the
 * order is refused, because the number of orders in progress is not known. */
static enum outcome enter(struct worker *w, struct admission_place *place)
{
    dlock_status st;

    if (w->service->admission == NULL)
        return OUTCOME_ACCEPTED;
    st = admission_enter(w->service->admission, place);
    metrics_count(&w->cell->admitted[st]);
    readiness_judge(w->service->readiness, READINESS_ADMISSION, st);
    if (st == DLOCK_OK)
        return OUTCOME_ACCEPTED;
    if (st == DLOCK_BUSY) {
        count_stop(w, LAYER_ADMISSION);
        return OUTCOME_ADMISSION_FULL;
    }
    LIMITED_WARN("admission: %s: %s", dlock_status_text(st), dlock_error());
    return OUTCOME_UNAVAILABLE;
}

static void leave(struct worker *w, struct admission_place *place)
{
    dlock_status st;

    if (w->service->admission == NULL)
        return;
    st = admission_leave(w->service->admission, place);
    metrics_count(&w->cell->admission_releases[st]);
    readiness_judge(w->service->readiness, READINESS_ADMISSION, st);
    if (st != DLOCK_OK)
        LIMITED_WARN("a place of the admission was given back: %s: %s",
                     dlock_status_text(st), dlock_error());
}

/* Ask the database again which vouchers with an old note are sold out, if it is time. */
static void renew_hints(struct worker *w, int64_t voucher_id)
{
    struct sold_out *hints = &w->service->sold_out;
    int64_t ids[SOLD_OUT_ASKED_MAX], asked_ns;
    size_t noted = sold_out_ask(hints, voucher_id, monotonic_ns(), ids), count = 0;

    if (noted == 0)
        return;
    for (size_t i = 0; i < noted; i++) /* those of this worker's database */
        if (partition_of_voucher(ids[i], partitions_count(w->service->databases)) == w->partition)
            ids[count++] = ids[i];
    if (worker_take_db(w) == OUTCOME_ACCEPTED) {
        asked_ns = monotonic_ns(); /* the wait for the connection makes no note older */
        if (voucher_find_sold_out(w->db, ids, count) == DB_OK)
            for (size_t row = 0; row < db_rows(w->db, 0); row++)
                sold_out_note(hints, db_int(w->db, 0, row, 0), asked_ns);
    }
    worker_give_db(w);
    sold_out_asked(hints);
}

static bool is_sold_out(struct worker *w, int64_t voucher_id)
{
    renew_hints(w, voucher_id);
    if (!sold_out_hint(&w->service->sold_out, voucher_id, monotonic_ns()))
        return false;
    count_stop(w, LAYER_HINT);
    return true;
}

/* Place an order whose request was not accepted before.  *asked: the order path was
 * called. */
static enum outcome place_new(struct worker *w, const struct order_request *request,
                              struct order_placed *placed, bool *asked)
{
    struct order_attempt attempt = {.worker = w, .request = request};
    struct admission_place place = {0};
    enum outcome outcome;

    if (is_sold_out(w, request->voucher_id)) /* and on sale */
        return OUTCOME_SOLD_OUT;
    outcome = sale_window_check(w, request->voucher_id, &attempt.admitted_us,
                                &attempt.sale_end_us);
    if (outcome != OUTCOME_ACCEPTED)
        return outcome;
    outcome = enter(w, &place);
    if (outcome != OUTCOME_ACCEPTED)
        return outcome;
    *asked = true;
    outcome = w->service->path->sell(&attempt);
    leave(w, &place);
    *placed = attempt.placed;
    return outcome;
}

/* Is the outcome a final refusal?  A request that was accepted before must not get such
 * an answer. */
static bool is_final_refusal(enum outcome outcome)
{
    switch (outcome) {
    case OUTCOME_SOLD_OUT:
    case OUTCOME_DUPLICATE:
    case OUTCOME_NOT_STARTED:
    case OUTCOME_ENDED:
    case OUTCOME_UNKNOWN_VOUCHER:
        return true;
    default:
        return false;
    }
}

/* Ask if the order of a refused request waits in the stream, for a request that was
 * refused before the order path was called.  QUEUED: it waits.  CONFLICT: the id
 * belongs to a waiting order of another voucher.  ACCEPTED: there is no stream, or no
 * such order in it.  UNAVAILABLE: Redis did not answer. */
static enum outcome find_waiting(struct worker *w, const struct order_request *request,
                                 struct order_placed *placed)
{
    struct stream_request found;

    if (w->service->stream == NULL)
        return OUTCOME_ACCEPTED;
    if (!stream_find_request(w->service->stream, request->user_id, request->request_id,
                             &found))
        return OUTCOME_UNAVAILABLE;
    if (!found.is_queued)
        return OUTCOME_ACCEPTED;
    *placed = (struct order_placed){found.order_id, true};
    return found.voucher_id == request->voucher_id ? OUTCOME_QUEUED : OUTCOME_CONFLICT;
}

/* May the request have an order although it was refused?  The lock of an order whose
 * outcome is unknown is busy until its lease ends, also for a repetition. */
static bool may_have_order(struct worker *w, const struct order_request *request,
                           enum outcome outcome)
{
    return request->is_named_by_client &&
           (is_final_refusal(outcome) ||
            (outcome == OUTCOME_LOCK_BUSY &&
             unknown_orders_has(&w->service->unknown_orders, request)));
}

/* Place an order, and look for an earlier order of the same request only after a
 * refusal, here or by the unique index.  A look before would cost every new order a
 * round trip. */
static enum outcome place(struct worker *w, const struct order_request *request,
                          struct order_placed *placed)
{
    bool is_new = false, has_asked = false;
    enum outcome outcome = place_new(w, request, placed, &has_asked);
    enum outcome earlier, waiting;

    if (outcome == OUTCOME_UNKNOWN)
        unknown_orders_note(&w->service->unknown_orders, request);
    if (!may_have_order(w, request, outcome))
        return outcome;
    /* Ask the stream first and then PostgreSQL, because the order may be written
     * between the two questions. */
    waiting = has_asked ? OUTCOME_ACCEPTED : find_waiting(w, request, placed);
    if (waiting == OUTCOME_UNAVAILABLE)
        return waiting;
    earlier = worker_take_db(w);
    if (earlier == OUTCOME_ACCEPTED)
        earlier = order_replay(w, request, placed, &is_new);
    worker_give_db(w);
    if (is_new)
        return waiting == OUTCOME_ACCEPTED ? outcome : waiting;
    return earlier;
}

enum outcome order_place(struct worker *w, const struct order_request *request,
                         struct order_placed *placed)
{
    enum outcome outcome = worker_enter_voucher(w, request->voucher_id);

    if (outcome == OUTCOME_ACCEPTED)
        outcome = place(w, request, placed);
    worker_leave(w);
    return outcome;
}
