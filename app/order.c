/* SPDX-License-Identifier: MIT */
/* order.c -- place an order: window, admission, lock, guards, commit, unlock.
 *
 * The steps of an attempt are in the order of the file.  The lease is on purpose not
 * looked at before the commit: what a lock is worth shows only if nothing else saves
 * the day.
 */
#include "app/order.h"

#include <stdio.h>
#include <string.h>

#include "app/limited.h"
#include "app/lock_name.h"
#include "app/sale_window.h"
#include "db/order.h"
#include "db/sale.h"
#include "lock/fault.h"

/* One attempt to sell, from the lock to the unlock. */
struct attempt {
    struct worker *w;
    const struct order_request *request;
    struct admission_place place;
    char lock_name[LOCK_NAME_SIZE];
    dlock_lease lease;
    bool is_locked;
    bool is_cut; /* a fault wants the connection broken that is not taken yet */
    int64_t admitted_us; /* when the window was checked, by the database's clock */
    int64_t locked_ns;
    int64_t asked_ns; /* the stock was as the sale found it at this moment, or later */
    struct sale sale;
    struct order_placed placed;
};

static void count_stop(struct worker *w, enum metrics_layer layer)
{
    metrics_count(&w->cell->stopped[layer]);
}

/* Come to a point: is PostgreSQL to be lost there?  That the connection was cut is found
 * out by the next statement. */
static bool is_lost_at(struct attempt *a, dlock_fault_point point)
{
    dlock_fault_action action = DLOCK_FAULT_ASK(point, a->lock_name);

    if (action == DLOCK_FAULT_CUT && a->w->db != NULL)
        db_break(a->w->db);
    a->is_cut = action == DLOCK_FAULT_CUT && a->w->db == NULL;
    if (action == DLOCK_FAULT_FAIL)
        LIMITED_WARN("PostgreSQL: given up, by a fault that was armed at %s",
                     dlock_fault_point_name(point));
    return action == DLOCK_FAULT_FAIL;
}

/* Was this very request accepted before?  ACCEPTED, CONFLICT; *is_new if not.  The worker
 * has a connection. */
static enum outcome replay(struct worker *w, const struct order_request *request,
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
    *placed = (struct order_placed){order.id, true};
    return OUTCOME_ACCEPTED;
}

/* ACCEPTED means: let in.  Without an answer nobody is: how many are inside is not
 * known then. */
static enum outcome enter(struct attempt *a)
{
    struct worker *w = a->w;
    dlock_status st;

    if (w->service->admission == NULL)
        return OUTCOME_ACCEPTED;
    st = admission_enter(w->service->admission, &a->place);
    metrics_count(&w->cell->admitted[st]);
    if (st == DLOCK_OK)
        return OUTCOME_ACCEPTED;
    if (st == DLOCK_BUSY) {
        count_stop(w, LAYER_ADMISSION);
        return OUTCOME_ADMISSION_FULL;
    }
    LIMITED_WARN("admission: %s: %s", dlock_status_text(st), dlock_error());
    return OUTCOME_UNAVAILABLE;
}

static void leave(struct attempt *a)
{
    struct worker *w = a->w;
    dlock_status st;

    if (w->service->admission == NULL)
        return;
    st = admission_leave(w->service->admission, &a->place);
    metrics_count(&w->cell->dismissed[st]);
    if (st != DLOCK_OK)
        LIMITED_WARN("a place of the admission was given back: %s %s",
                     dlock_status_text(st), dlock_error());
}

/* ACCEPTED means: the lock is held. */
static enum outcome lock(struct attempt *a)
{
    struct worker *w = a->w;
    const struct config *c = w->service->config;
    int64_t asked_ns = monotonic_ns();
    dlock_status st;

    if (c->lock_scope_is_voucher)
        lock_name_of_voucher(a->request->voucher_id, a->lock_name);
    else
        lock_name_of_user(a->request->user_id, a->lock_name);
    st = dlock_acquire(w->service->locks, a->lock_name, c->lock_wait_ms, &a->lease);
    a->locked_ns = monotonic_ns();
    metrics_count(&w->cell->acquired[st]);
    histogram_record(&w->cell->lock_wait, a->locked_ns - asked_ns);
    a->is_locked = st == DLOCK_OK;
    if (a->is_locked)
        return OUTCOME_ACCEPTED;
    if (st == DLOCK_BUSY || st == DLOCK_TIMEOUT) {
        count_stop(w, LAYER_LOCK);
        return OUTCOME_LOCK_BUSY;
    }
    LIMITED_WARN("lock %s: %s: %s", a->lock_name, dlock_status_text(st), dlock_error());
    return st == DLOCK_INVALID || st == DLOCK_NOMEM ? OUTCOME_INTERNAL
                                                    : OUTCOME_UNAVAILABLE;
}

static void unlock(struct attempt *a)
{
    struct worker *w = a->w;
    dlock_status st;

    if (!a->is_locked)
        return;
    DLOCK_FAULT(BEFORE_RELEASE, a->lock_name);
    a->is_locked = false;
    st = dlock_release(w->service->locks, &a->lease);
    metrics_count(&w->cell->released[st]);
    histogram_record(&w->cell->lock_hold, monotonic_ns() - a->locked_ns);
    if (st != DLOCK_OK)
        LIMITED_WARN("lock %s was given back: %s %s", a->lock_name,
                     dlock_status_text(st), dlock_error());
}

/* The order's transaction may still be open, so nobody may have the lock before its lease
 * is over, by when PostgreSQL has ended a transaction whose client is gone. */
static void abandon(struct attempt *a)
{
    struct worker *w = a->w;
    dlock_status st;

    if (!a->is_locked)
        return;
    a->is_locked = false;
    st = dlock_abandon(w->service->locks, &a->lease);
    metrics_count(&w->cell->abandoned);
    histogram_record(&w->cell->lock_hold, monotonic_ns() - a->locked_ns);
    LIMITED_WARN("lock %s is left to its lease: %s %s", a->lock_name,
                 dlock_status_text(st), dlock_error());
}

/* A lock that was lost is refused for a reason.  One that is not: then the fences of two
 * locks, or of two lives of one store, met on the row, and this goes on for ever. */
static void warn_of_stale(struct attempt *a)
{
    if (dlock_lease_valid(a->w->service->locks, &a->lease))
        LIMITED_WARN("voucher %lld was written under a later fence than %llu, which is "
                     "that of the lock %s, held now: was it sold under another lock? "
                     "Then set its fence to 0 while nobody sells it",
                     (long long)a->request->voucher_id,
                     (unsigned long long)a->lease.fence, a->lock_name);
}

/* The COMMIT was sent and nobody answered: find out. */
static enum outcome settle(struct attempt *a)
{
    struct worker *w = a->w;
    const struct order_commit commit = {
        .user_id = a->request->user_id,
        .voucher_id = a->request->voucher_id,
        .request_id = a->request->request_id,
        .xid = a->sale.xid,
        .backend_pid = a->sale.backend_pid,
    };

    metrics_count(&w->cell->settled);
    LIMITED_WARN("a COMMIT was not answered (request %s): %s", a->request->request_id,
                 db_error(w->db));
    worker_give_db(w);
    switch (order_settle(w->service->database, &commit, w->service->config->settle_ms,
                         &a->placed.order_id)) {
    case ORDER_SOLD_BEFORE:
        a->placed.is_replay = true;
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
static enum outcome repeat(struct attempt *a)
{
    bool is_new = false;
    enum outcome outcome = replay(a->w, a->request, &a->placed, &is_new);

    return is_new ? OUTCOME_UNAVAILABLE : outcome;
}

static enum outcome stop(struct attempt *a, enum metrics_layer layer,
                         enum outcome outcome)
{
    count_stop(a->w, layer);
    return outcome;
}

static enum outcome fail(struct attempt *a)
{
    enum outcome outcome = worker_db_failed(a->w, a->sale.status);

    sale_cancel(a->w->db);
    return outcome;
}

/* What the end of a sale is to the client. */
static enum outcome conclude(struct attempt *a)
{
    struct worker *w = a->w;

    if (a->sale.record_status != DB_OK)
        LIMITED_WARN("a refused write is not in the record: %s: %s",
                     db_status_name(a->sale.record_status), db_error(w->db));
    switch (a->sale.answer) {
    case SALE_SOLD:
        a->placed.order_id = a->sale.order_id;
        return OUTCOME_ACCEPTED;
    case SALE_SOLD_OUT:
        sold_out_note(&w->service->sold_out, a->request->voucher_id, a->asked_ns);
        return stop(a, LAYER_STOCK_GUARD, OUTCOME_SOLD_OUT);
    case SALE_COUNTED:
        return stop(a, LAYER_COUNT, OUTCOME_DUPLICATE);
    case SALE_DUPLICATE:
        return stop(a, LAYER_UNIQUE, OUTCOME_DUPLICATE);
    case SALE_BUSY:
        return stop(a, LAYER_STOCK_GUARD, OUTCOME_LOCK_BUSY);
    case SALE_STALE:
        warn_of_stale(a);
        return stop(a, LAYER_FENCE, OUTCOME_STALE);
    case SALE_REPEATED:
        return repeat(a);
    case SALE_GIVEN_UP:
        return OUTCOME_UNAVAILABLE;
    case SALE_UNSURE:
        return settle(a);
    case SALE_FAILED:
        break;
    }
    return fail(a);
}

/* A sale_watch: what happens to an order between its statements. */
static bool watch(enum sale_point point, struct db_conn *db, void *attempt)
{
    static const dlock_fault_point FAULTS[] = {
        [SALE_AFTER_READ] = DLOCK_FAULT_AFTER_READ,
        [SALE_BEFORE_COMMIT] = DLOCK_FAULT_BEFORE_COMMIT,
        [SALE_AFTER_COMMIT] = DLOCK_FAULT_AFTER_COMMIT,
    };
    struct attempt *a = attempt;

    (void)db;
    if (point == SALE_BEFORE_COMMIT && a->w->service->config->unlock_before_commit)
        unlock(a);
    if (is_lost_at(a, FAULTS[point]))
        return false;
    if (point == SALE_AFTER_READ)
        a->asked_ns = monotonic_ns();
    return true;
}

/* The order's transaction, from its connection's taking to its giving back. */
static enum outcome transact(struct attempt *a)
{
    struct worker *w = a->w;
    enum outcome outcome = worker_take_db(w);

    if (outcome != OUTCOME_ACCEPTED)
        return outcome;
    if (a->is_cut)
        db_break(w->db);
    a->sale = (struct sale){
        .terms = &w->service->terms,
        .user_id = a->request->user_id,
        .voucher_id = a->request->voucher_id,
        .request_id = a->request->request_id,
        .admitted_us = a->admitted_us,
        .fence = (int64_t)a->lease.fence,
        .lock_name = w->service->config->record != NULL ? a->lock_name : NULL,
    };
    a->asked_ns = monotonic_ns();
    if (sale_begin(w->db, &a->sale))
        (void)sale_finish(w->db, &a->sale, watch, a);
    outcome = conclude(a);
    worker_give_db(w);
    return outcome;
}

/* The part of an order that runs while the lock is held. */
static enum outcome sell(struct attempt *a)
{
    return is_lost_at(a, DLOCK_FAULT_AFTER_ACQUIRE) ? OUTCOME_UNAVAILABLE : transact(a);
}

/* The part of an order that runs after its admission. */
static enum outcome sell_locked(struct attempt *a)
{
    enum outcome outcome = lock(a);

    if (outcome != OUTCOME_ACCEPTED)
        return outcome;
    outcome = sell(a);
    if (outcome == OUTCOME_UNKNOWN)
        abandon(a);
    else
        unlock(a);
    return outcome;
}

static enum outcome place_new(struct worker *w, const struct order_request *request,
                              struct order_placed *placed)
{
    struct attempt a = {.w = w, .request = request};
    enum outcome outcome = sale_window_check(w, request->voucher_id, &a.admitted_us);

    if (outcome != OUTCOME_ACCEPTED)
        return outcome;
    if (sold_out_hint(&w->service->sold_out, request->voucher_id, monotonic_ns())) {
        count_stop(w, LAYER_HINT);
        return OUTCOME_SOLD_OUT;
    }
    outcome = enter(&a);
    if (outcome != OUTCOME_ACCEPTED)
        return outcome;
    outcome = sell_locked(&a);
    leave(&a);
    *placed = a.placed;
    return outcome;
}

/* Is it a refusal for good, which somebody who was accepted before must not hear? */
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

/* A request that comes again is found out when it is refused, here or by the unique index
 * at its insert: asking first would cost every new order a round trip. */
enum outcome order_place(struct worker *w, const struct order_request *request,
                         struct order_placed *placed)
{
    enum outcome outcome = place_new(w, request, placed);
    enum outcome earlier;
    bool is_new = false;

    if (!request->is_named_by_client || !is_final_refusal(outcome))
        return outcome;
    earlier = worker_take_db(w);
    if (earlier == OUTCOME_ACCEPTED)
        earlier = replay(w, request, placed, &is_new);
    worker_give_db(w);
    return is_new ? outcome : earlier;
}
