/* SPDX-License-Identifier: MIT */
/* each.c -- one transaction for each order: lock, sell, commit, unlock. */
#include "base/text/limited.h"
#include "app/order_lock.h"
#include "app/order_path.h"
#include "app/order_replay.h"
#include "db/order.h"
#include "db/sale.h"
#include "lock/fault.h"

/* One order, from the lock to the unlock. */
struct each {
    struct order_attempt *order;
    struct worker *w;
    struct order_lock lock;
    bool is_cut; /* a fault wants the connection broken that is not taken yet */
    int64_t asked_ns; /* the stock was as the sale found it at this moment, or later */
    struct sale sale;
};

/* Come to a point: is PostgreSQL to be lost there?  That the connection was cut is found
 * out by the next statement. */
static bool is_lost_at(struct each *e, dlock_fault_point point)
{
    dlock_fault_action action = DLOCK_FAULT_ASK(point, e->lock.name);

    if (action == DLOCK_FAULT_CUT && e->w->db != NULL)
        db_break(e->w->db);
    e->is_cut = action == DLOCK_FAULT_CUT && e->w->db == NULL;
    if (action == DLOCK_FAULT_FAIL)
        LIMITED_WARN("PostgreSQL: given up, by a fault that was armed at %s",
                     dlock_fault_point_name(point));
    return action == DLOCK_FAULT_FAIL;
}

/* A lock that was lost is refused for a reason.  One that is not: then the fences of two
 * locks, or of two lives of one store, met on the row, and this goes on for ever. */
static void warn_of_stale(struct each *e)
{
    if (dlock_lease_valid(e->w->service->locks, &e->lock.lease))
        LIMITED_WARN("voucher %lld was written under a later fence than %llu, which is "
                     "that of the lock %s, held now: was it sold under another lock? "
                     "Then set its fence to 0 while nobody sells it",
                     (long long)e->order->request->voucher_id,
                     (unsigned long long)e->lock.lease.fence, e->lock.name);
}

/* The COMMIT was sent and nobody answered: find out. */
static enum outcome settle(struct each *e)
{
    struct worker *w = e->w;
    const struct order_commit commit = {
        .user_id = e->order->request->user_id,
        .voucher_id = e->order->request->voucher_id,
        .request_id = e->order->request->request_id,
        .xid = e->sale.xid,
        .backend_pid = e->sale.backend_pid,
    };

    metrics_count(&w->cell->settled);
    LIMITED_WARN("a COMMIT was not answered (request %s): %s",
                 e->order->request->request_id, db_error(w->db));
    worker_give_db(w);
    switch (order_settle(w->service->database, &commit, w->service->config->settle_ms,
                         &e->order->placed.order_id)) {
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

/* The same request came twice at once, and the other was faster. */
static enum outcome repeat(struct each *e)
{
    bool is_new = false;
    enum outcome outcome =
        order_replay(e->w, e->order->request, &e->order->placed, &is_new);

    return is_new ? OUTCOME_UNAVAILABLE : outcome;
}

static enum outcome stop(struct each *e, enum metrics_layer layer, enum outcome outcome)
{
    metrics_count(&e->w->cell->stopped[layer]);
    return outcome;
}

static enum outcome fail(struct each *e)
{
    enum outcome outcome = worker_db_failed(e->w, e->sale.status);

    sale_cancel(e->w->db);
    return outcome;
}

/* The outcome that a client is told of each end of a sale. */
static enum outcome conclude(struct each *e)
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

/* A sale_watch: what happens to an order between its statements. */
static bool watch(enum sale_point point, struct db_conn *db, void *each)
{
    static const dlock_fault_point FAULTS[] = {
        [SALE_AFTER_READ] = DLOCK_FAULT_AFTER_READ,
        [SALE_BEFORE_COMMIT] = DLOCK_FAULT_BEFORE_COMMIT,
        [SALE_AFTER_COMMIT] = DLOCK_FAULT_AFTER_COMMIT,
    };
    struct each *e = each;

    (void)db;
    if (point == SALE_BEFORE_COMMIT && e->w->service->config->unlock_before_commit)
        order_lock_give(e->w, &e->lock);
    if (is_lost_at(e, FAULTS[point]))
        return false;
    if (point == SALE_AFTER_READ)
        e->asked_ns = monotonic_ns();
    return true;
}

/* The order's transaction, from its connection's taking to its giving back. */
static enum outcome transact(struct each *e)
{
    struct worker *w = e->w;
    enum outcome outcome = worker_take_db(w);

    if (outcome != OUTCOME_ACCEPTED)
        return outcome;
    if (e->is_cut)
        db_break(w->db);
    e->sale = (struct sale){
        .terms = &w->service->terms,
        .user_id = e->order->request->user_id,
        .voucher_id = e->order->request->voucher_id,
        .request_id = e->order->request->request_id,
        .admitted_us = e->order->admitted_us,
        .fence = (int64_t)e->lock.lease.fence,
        .lock_name = w->service->config->record != NULL ? e->lock.name : NULL,
    };
    e->asked_ns = monotonic_ns();
    if (sale_begin(w->db, &e->sale))
        (void)sale_finish(w->db, &e->sale, watch, e);
    outcome = conclude(e);
    worker_give_db(w);
    return outcome;
}

/* The part of an order that runs while the lock is held. */
static enum outcome sell_locked(struct each *e)
{
    return is_lost_at(e, DLOCK_FAULT_AFTER_ACQUIRE) ? OUTCOME_UNAVAILABLE : transact(e);
}

static enum outcome sell(struct order_attempt *order)
{
    struct each e = {.order = order, .w = order->worker};
    enum outcome outcome = order_lock_take(e.w, order->request, &e.lock);

    if (outcome != OUTCOME_ACCEPTED)
        return outcome;
    outcome = sell_locked(&e);
    if (outcome == OUTCOME_UNKNOWN)
        order_lock_abandon(e.w, &e.lock);
    else
        order_lock_give(e.w, &e.lock);
    return outcome;
}

const struct order_path order_path_each = {
    .name = "each",
    .sell = sell,
};
