/* SPDX-License-Identifier: MIT */
/* order_sale.c -- the part of an order that is the same on every path: its sale, its
 * fault points, and the outcome for its client. */
#include "app/order_sale.h"

#include <stdio.h>

#include "base/text/duration.h"
#include "db/order.h"
#include "lock/fault.h"

enum outcome order_replay(struct worker *w, const struct order_request *request,
                          struct order_placed *placed, bool *is_new)
{
    struct order_found order;
    enum db_status st = order_find_request(w->db, request->user_id, request->request_id,
                                           &order);

    *is_new = false;
    if (st != DB_OK)
        return worker_db_failed(w, st);
    *is_new = !order.found;
    if (!order.found)
        return OUTCOME_INTERNAL;
    if (order.voucher_id != request->voucher_id)
        return OUTCOME_CONFLICT;
    st = order_confirm(w->db);
    if (st != DB_OK) {
        (void)worker_db_failed(w, st);
        return OUTCOME_UNKNOWN;
    }
    *placed = (struct order_placed){order.id, true};
    return OUTCOME_ACCEPTED;
}

bool order_sale_is_lost_at(struct order_sale *e, dlock_fault_point point)
{
    dlock_fault_action action = DLOCK_FAULT_ASK(point, e->lock->name);

    if (action == DLOCK_FAULT_CUT && e->w->db != NULL)
        db_break(e->w->db);
    e->is_cut = action == DLOCK_FAULT_CUT && e->w->db == NULL;
    if (action == DLOCK_FAULT_FAIL)
        LIMITED_WARN("PostgreSQL: given up, by a fault that was armed at %s",
                     dlock_fault_point_name(point));
    return action == DLOCK_FAULT_FAIL;
}

/* Warn if a write was refused because of its fence although the lock is held.  Then the
 * row has the fence of another lock, or of a store that has lost its counter since, and
 * every later write will be refused too. */
static void warn_of_stale(struct order_sale *e)
{
    if (dlock_lease_valid(e->w->service->locks, &e->lock->lease))
        LIMITED_WARN("voucher %lld was written under a later fence than %llu, which is "
                     "that of the lock %s, held now: was it sold under another lock? "
                     "Then set its fence to 0 while nobody sells it",
                     (long long)e->order->request->voucher_id,
                     (unsigned long long)e->lock->lease.fence, e->lock->name);
}

/* Find out the outcome of a COMMIT that was not answered. */
static enum outcome settle(struct order_sale *e)
{
    struct worker *w = e->w;
    const struct order_commit commit = {
        .user_id = e->order->request->user_id,
        .voucher_id = e->order->request->voucher_id,
        .request_id = e->order->request->request_id,
        .xid = e->sale.xid,
        .backend_pid = e->sale.backend_pid,
    };

    metrics_count(&w->cell->unanswered_commits);
    LIMITED_WARN("a COMMIT was not answered (request %s): %s",
                 e->order->request->request_id,
                 w->db != NULL ? db_error(w->db) : "it was the COMMIT of a batch");
    readiness_fail(w->service->readiness, READINESS_POSTGRESQL, w->partition,
                   "a COMMIT was not answered");
    worker_give_db(w);
    switch (order_settle(partitions_pool(w->service->databases, w->partition), &commit,
                         w->service->config->settle_ms, &e->order->placed.order_id)) {
    case ORDER_SOLD_BEFORE:
        e->order->placed.is_replay = true;
        return OUTCOME_ACCEPTED;
    case ORDER_SOLD:
        return OUTCOME_ACCEPTED;
    case ORDER_NOT_SOLD:
        return OUTCOME_UNAVAILABLE;
    case ORDER_ID_TAKEN:
        return OUTCOME_CONFLICT;
    case ORDER_UNSETTLED:
        break;
    }
    return OUTCOME_UNKNOWN;
}

/* The same request came twice at the same time, and the other one was written first. */
static enum outcome repeat(struct order_sale *e)
{
    bool is_new = false;
    enum outcome outcome =
        order_replay(e->w, e->order->request, &e->order->placed, &is_new);

    return is_new ? OUTCOME_UNAVAILABLE : outcome;
}

static enum outcome stop(struct order_sale *e, enum metrics_layer layer, enum outcome outcome)
{
    metrics_count(&e->w->cell->stopped[layer]);
    return outcome;
}

static enum outcome fail(struct order_sale *e)
{
    enum outcome outcome = worker_db_failed(e->w, e->sale.status);

    (void)snprintf(e->sqlstate, sizeof(e->sqlstate), "%s", db_state(e->w->db));
    (void)snprintf(e->why, sizeof(e->why), "%s", db_error(e->w->db));
    sale_cancel(e->w->db);
    return outcome;
}

enum outcome order_sale_conclude(struct order_sale *e)
{
    struct worker *w = e->w;

    if (e->sale.record_status != DB_OK)
        LIMITED_WARN("a refused write is not in the record: %s: %s",
                     db_status_name(e->sale.record_status), db_error(w->db));
    switch (e->sale.answer) {
    case SALE_SOLD:
        e->order->placed.order_id = e->sale.order_id;
        return OUTCOME_ACCEPTED;
    case SALE_SOLD_OUT:
        sold_out_note(&w->service->sold_out, e->order->request->voucher_id, e->asked_ns);
        return stop(e, LAYER_STOCK_GUARD, OUTCOME_SOLD_OUT);
    case SALE_COUNTED:
        return stop(e, LAYER_COUNT, OUTCOME_DUPLICATE);
    case SALE_DUPLICATE:
        return stop(e, LAYER_UNIQUE, OUTCOME_DUPLICATE);
    case SALE_BUSY:
        return stop(e, LAYER_STOCK_GUARD, OUTCOME_LOCK_BUSY);
    case SALE_STALE:
        warn_of_stale(e);
        return stop(e, LAYER_FENCE, OUTCOME_STALE);
    case SALE_REPEATED:
        return repeat(e);
    case SALE_GIVEN_UP:
        return OUTCOME_UNAVAILABLE;
    case SALE_UNSURE:
        return settle(e);
    case SALE_FAILED:
        break;
    }
    return fail(e);
}

bool order_sale_watch(struct order_sale *e, enum sale_point point)
{
    static const dlock_fault_point FAULTS[] = {
        [SALE_AFTER_READ] = DLOCK_FAULT_AFTER_READ,
        [SALE_BEFORE_COMMIT] = DLOCK_FAULT_BEFORE_COMMIT,
        [SALE_AFTER_COMMIT] = DLOCK_FAULT_AFTER_COMMIT,
    };

    if (point == SALE_BEFORE_COMMIT && e->w->service->config->unlock_before_commit)
        order_lock_give(e->w, e->lock);
    if (order_sale_is_lost_at(e, FAULTS[point]))
        return false;
    if (point == SALE_AFTER_READ)
        e->asked_ns = monotonic_ns();
    return true;
}

/* A sale_watch. */
static bool watch(enum sale_point point, struct db_conn *db, void *e)
{
    (void)db;
    return order_sale_watch(e, point);
}

void order_sale_begin(struct order_sale *e)
{
    const struct service *service = e->w->service;

    e->sale = (struct sale){
        .terms = &service->terms,
        .user_id = e->order->request->user_id,
        .voucher_id = e->order->request->voucher_id,
        .request_id = e->order->request->request_id,
        .admitted_us = e->order->admitted_us,
        .drawn_id = e->order->drawn_id,
        .fence = (int64_t)e->lock->lease.fence,
        .lock_name = service->config->record != NULL ? e->lock->name : NULL,
    };
    e->asked_ns = monotonic_ns();
}

void order_sale_warn_of_batch(const struct sale_batch *batch)
{
    if (batch->status != DB_OK)
        LIMITED_WARN("a batch of %zu orders of voucher %lld failed: %s", batch->count,
                     (long long)batch->sales[0]->voucher_id, batch->why);
}

enum outcome order_sale_run(struct order_sale *e)
{
    struct db_conn *db = e->w->db;

    if (e->is_cut)
        db_break(db);
    order_sale_begin(e);
    if (sale_begin(db, &e->sale))
        (void)sale_finish(db, &e->sale, watch, e);
    return order_sale_conclude(e);
}
