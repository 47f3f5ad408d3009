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
    struct guard_sale sale;
    struct order_placed placed;
};

static void count_stop(struct worker *w, enum metrics_layer layer)
{
    metrics_count(&w->cell->stopped[layer]);
}

/* Undo what the transaction did, and say why. */
static enum outcome undo(struct attempt *a, enum outcome outcome)
{
    if (a->w->db != NULL)
        order_cancel(a->w->db);
    return outcome;
}

static struct order_row row_of(const struct attempt *a)
{
    const struct config *c = a->w->service->config;
    const struct order_row row = {
        .user_id = a->request->user_id,
        .voucher_id = a->request->voucher_id,
        .request_id = a->request->request_id,
        .lock_variant = c->lock,
        .stock_guard = c->stock_guard,
        .duplicate_guard = c->duplicate_guard,
        .process = c->process_name,
        .admitted_us = a->admitted_us,
        .fence = (int64_t)a->lease.fence,
        .lock_name = c->record != NULL ? a->lock_name : NULL,
    };

    return row;
}

/* The same for a write that the database refused: into its record goes who did. */
static enum outcome undo_refused(struct attempt *a, const char *guard,
                                 enum outcome outcome)
{
    struct db_conn *db = a->w->db;
    const struct order_row row = row_of(a);
    enum db_status st;

    if (row.lock_name == NULL)
        return undo(a, outcome);
    st = order_refuse(db, &row, guard, outcome_info(outcome)->name);
    if (st != DB_OK)
        LIMITED_WARN("a refused write is not in the record: %s: %s",
                     db_status_name(st), db_error(db));
    return outcome;
}

static enum outcome undo_failed(struct attempt *a, enum db_status st)
{
    return undo(a, worker_db_failed(a->w, st));
}

/* Come to a point: is PostgreSQL to be lost there?  That the connection was cut is found
 * out by the next statement. */
static bool is_lost_at(struct attempt *a, dlock_fault_point point)
{
    dlock_fault_action action = DLOCK_FAULT_ASK(point, a->lock_name);

    if (action == DLOCK_FAULT_CUT && a->w->db != NULL)
        db_break(a->w->db);
    a->is_cut = action == DLOCK_FAULT_CUT && a->w->db == NULL;
    return action == DLOCK_FAULT_FAIL;
}

/* The same before anything is committed.  ACCEPTED means: go on. */
static enum outcome reach(struct attempt *a, dlock_fault_point point)
{
    if (!is_lost_at(a, point))
        return OUTCOME_ACCEPTED;
    LIMITED_WARN("PostgreSQL: given up, by a fault that was armed at %s",
                 dlock_fault_point_name(point));
    return undo(a, OUTCOME_UNAVAILABLE);
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

/* Begin, and read what the guards want to know.  ACCEPTED means: go on. */
static enum outcome read_state(struct attempt *a)
{
    struct worker *w = a->w;
    int64_t asked_ns = monotonic_ns();
    int64_t earlier = 0;
    enum db_status st = order_begin(
        w->db, w->service->guard, a->request->user_id, &a->sale,
        w->service->config->duplicate_is_counted ? &earlier : NULL);

    if (st != DB_OK)
        return undo_failed(a, st);
    if (earlier > 0) {
        count_stop(w, LAYER_COUNT);
        return undo(a, OUTCOME_DUPLICATE);
    }
    if (w->service->guard->read != NULL && a->sale.stock < 1) {
        count_stop(w, LAYER_STOCK_GUARD);
        sold_out_note(&w->service->sold_out, a->request->voucher_id, asked_ns);
        return undo(a, OUTCOME_SOLD_OUT);
    }
    return OUTCOME_ACCEPTED;
}

/* A lock that was lost is refused for a reason.  One that is not: then the fences of two
 * locks, or of two lives of one store, met on the row, and this goes on for ever. */
static enum outcome refuse_stale(struct attempt *a)
{
    struct worker *w = a->w;

    count_stop(w, LAYER_FENCE);
    if (dlock_lease_valid(w->service->locks, &a->lease))
        LIMITED_WARN("voucher %lld was written under a later fence than %llu, which is "
                     "that of the lock %s, held now: was it sold under another lock? "
                     "Then set its fence to 0 while nobody sells it",
                     (long long)a->request->voucher_id,
                     (unsigned long long)a->lease.fence, a->lock_name);
    return undo_refused(a, w->service->guard->name, OUTCOME_STALE);
}

/* Write one unit off.  ACCEPTED means: done, in the open transaction. */
static enum outcome take_stock(struct attempt *a)
{
    struct worker *w = a->w;
    const char *guard = w->service->guard->name;
    int64_t asked_ns = monotonic_ns();

    a->sale.fence = (int64_t)a->lease.fence;

    switch (w->service->guard->take(w->db, &a->sale)) {
    case GUARD_TAKEN:
        return OUTCOME_ACCEPTED;
    case GUARD_SOLD_OUT:
        count_stop(w, LAYER_STOCK_GUARD);
        sold_out_note(&w->service->sold_out, a->request->voucher_id, asked_ns);
        return undo_refused(a, guard, OUTCOME_SOLD_OUT);
    case GUARD_BUSY:
        count_stop(w, LAYER_STOCK_GUARD);
        return undo_refused(a, guard, OUTCOME_LOCK_BUSY);
    case GUARD_STALE:
        return refuse_stale(a);
    case GUARD_FAILED:
        break;
    }
    return undo_failed(a, a->sale.status);
}

/* The COMMIT was sent and nobody answered: find out. */
static enum outcome settle(struct attempt *a, int backend_pid)
{
    struct worker *w = a->w;
    const struct order_commit commit = {
        .user_id = a->request->user_id,
        .voucher_id = a->request->voucher_id,
        .request_id = a->request->request_id,
        .xid = a->sale.xid,
        .backend_pid = backend_pid,
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

/* The insert was refused: by the index of one order per user, or because the same
 * request came twice at once and the other was faster. */
static enum outcome insert_refused(struct attempt *a, enum db_status st)
{
    struct worker *w = a->w;
    bool is_new = false;
    enum outcome outcome;

    if (st == DB_UNIQUE && order_is_duplicate(w->db)) {
        count_stop(w, LAYER_UNIQUE);
        return undo_refused(a, "unique", OUTCOME_DUPLICATE);
    }
    if (st != DB_UNIQUE || !order_is_repeated(w->db))
        return undo_failed(a, st);
    (void)undo_refused(a, "request-id", OUTCOME_CONFLICT);
    outcome = replay(w, a->request, &a->placed, &is_new);
    return is_new ? OUTCOME_UNAVAILABLE : outcome;
}

/* Insert and commit.  When nothing can happen in between, both go in one round trip. */
static enum outcome write_order(struct attempt *a)
{
    struct worker *w = a->w;
    const struct config *c = w->service->config;
    const struct order_row row = row_of(a);
    int backend_pid = db_backend_pid(w->db);
    enum outcome outcome;
    enum db_status st;

    if (w->service->splits_commit) {
        st = order_insert(w->db, &row, &a->placed.order_id);
        if (st != DB_OK)
            return insert_refused(a, st);
        if (c->unlock_before_commit)
            unlock(a);
        outcome = reach(a, DLOCK_FAULT_BEFORE_COMMIT);
        if (outcome != OUTCOME_ACCEPTED)
            return outcome;
        st = order_commit(w->db);
    } else {
        st = order_insert_and_commit(w->db, &row, &a->placed.order_id);
    }
    if (st == DB_OK && is_lost_at(a, DLOCK_FAULT_AFTER_COMMIT))
        st = DB_LOST; /* as if nobody had heard of it */
    if (st == DB_LOST)
        return settle(a, backend_pid);
    return st == DB_OK ? OUTCOME_ACCEPTED : insert_refused(a, st);
}

/* The order's transaction, from its connection's taking to its giving back. */
static enum outcome transact(struct attempt *a)
{
    enum outcome outcome = worker_take_db(a->w);

    if (outcome != OUTCOME_ACCEPTED)
        return outcome;
    if (a->is_cut)
        db_break(a->w->db);
    outcome = read_state(a);
    if (outcome == OUTCOME_ACCEPTED)
        outcome = reach(a, DLOCK_FAULT_AFTER_READ);
    if (outcome == OUTCOME_ACCEPTED)
        outcome = take_stock(a);
    if (outcome == OUTCOME_ACCEPTED)
        outcome = write_order(a);
    worker_give_db(a->w);
    return outcome;
}

/* The part of an order that runs while the lock is held. */
static enum outcome sell(struct attempt *a)
{
    enum outcome outcome = reach(a, DLOCK_FAULT_AFTER_ACQUIRE);

    return outcome == OUTCOME_ACCEPTED ? transact(a) : outcome;
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
    a.sale.voucher_id = request->voucher_id;
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
