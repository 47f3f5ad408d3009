/* SPDX-License-Identifier: MIT */
/* stream_sale.c -- one transaction for the queued orders of a voucher.
 *
 * An order may come twice, because its writer died after the COMMIT, because the writer
 * was slow and another writer claimed the order, or because the COMMIT was not
 * answered.  So before a refusal by a guard or an index counts, the row of the order is
 * looked for by the request's id. */
#include "app/stream_sale.h"

#include <stdio.h>
#include <string.h>

#include "app/order_sale.h"
#include "app/sale_window.h"
#include "base/os/clock.h"
#include "db/sale_batch.h"

/* The orders that are sold at once. */
struct group {
    struct worker *w;
    struct stream_writing *all[STREAM_BATCH_MAX]; /* the orders whose lock is held */
    size_t count;
    struct order_lock lock; /* the voucher's lock, with --lock-scope=voucher */
    struct sale_batch batch;
    struct stream_writing *members[STREAM_BATCH_MAX]; /* of the batch */
    bool is_in_doubt; /* a COMMIT was not answered, and its outcome is not known */
    bool is_settled;  /* a COMMIT was not answered, and its outcome is known */
    bool is_locked;   /* another session has locked the voucher's row for too long */
    bool is_down;     /* there was no connection */
};

static void keep_reason(struct stream_writing *it, const char *why)
{
    (void)snprintf(it->reason, sizeof(it->reason), "%s", why);
    for (char *p = it->reason; *p != '\0'; p++)
        if (*p == '\n' || *p == '\r')
            *p = ' ';
}

/* ---- what became of an order ---- */

/* Count a statement that PostgreSQL refused.  Invalid values (class 22) and violated
 * constraints (class 23) are the entry's own fault.  Any other refusal may pass, and is
 * no reason to break a promise. */
static void count_try(struct stream_writing *it)
{
    const char *state = it->sale.sqlstate;

    if (strncmp(state, "22", 2) != 0 && strncmp(state, "23", 2) != 0)
        return;
    keep_reason(it, it->sale.why);
    if (++it->tries >= STREAM_TRIES_MAX)
        it->state = STREAM_POISON;
}

/* The row of the request exists, and the order counts as written only if the row has the
 * number that the client was told.  Another path may have written the row, or this path
 * before Redis lost its data. */
static void compare_number(struct stream_writing *it, int64_t order_id)
{
    it->state = order_id == it->entry.order_id ? STREAM_WRITTEN : STREAM_REFUSED;
    it->refusal = OUTCOME_DUPLICATE;
}

/* The result of looking for the row of a request by the request's id. */
enum row { ROW_UNKNOWN, ROW_THERE, ROW_OTHER_VOUCHER, ROW_NONE };

static enum row look_for_row(struct worker *w, const struct stream_writing *it,
                             struct order_placed *placed)
{
    bool is_new = false;
    enum outcome found = w->db != NULL ? OUTCOME_ACCEPTED : worker_take_db(w);

    if (found == OUTCOME_ACCEPTED)
        found = order_replay(w, &it->request, placed, &is_new);
    if (is_new)
        return ROW_NONE;
    return found == OUTCOME_ACCEPTED   ? ROW_THERE
           : found == OUTCOME_CONFLICT ? ROW_OTHER_VOUCHER
                                       : ROW_UNKNOWN;
}

/* After a refusal by a guard, an index or a statement: look for the order's row.  An
 * order that comes twice is refused by the primary key, because of its own number,
 * before the index of requests is checked. */
static void look_again(struct worker *w, struct stream_writing *it, enum outcome refusal)
{
    struct order_placed placed = {0};
    enum row row = look_for_row(w, it, &placed);

    if (row == ROW_THERE) {
        compare_number(it, placed.order_id);
    } else if (row != ROW_UNKNOWN && refusal == OUTCOME_INTERNAL) {
        count_try(it);
    } else if (row != ROW_UNKNOWN) {
        it->state = STREAM_REFUSED;
        it->refusal = row == ROW_NONE ? refusal : OUTCOME_CONFLICT;
    }
}

static void judge(struct worker *w, struct stream_writing *it, enum outcome outcome)
{
    switch (outcome) {
    case OUTCOME_ACCEPTED:
        compare_number(it, it->attempt.placed.order_id);
        break;
    case OUTCOME_SOLD_OUT:
    case OUTCOME_DUPLICATE:
    case OUTCOME_CONFLICT:
    case OUTCOME_NOT_STARTED:
    case OUTCOME_ENDED:
    case OUTCOME_UNKNOWN_VOUCHER:
    case OUTCOME_INTERNAL:
        look_again(w, it, outcome);
        break;
    case OUTCOME_LOCK_BUSY:
    case OUTCOME_STALE:
        it->is_blocked = true;
        break;
    default: /* a locked row is as a busy lock */
        it->is_blocked = it->sale.sale.status == DB_TIMEOUT;
        break;
    }
}

/* Conclude a member of the batch.  The members share one transaction, so the outcome of
 * its COMMIT is asked for one of them only.  The others are tried again, which is safe
 * because of their request ids. */
static void conclude(struct group *g, struct stream_writing *it)
{
    bool is_unsure = it->sale.sale.answer == SALE_UNSURE;
    enum outcome outcome;

    if (is_unsure && (g->is_in_doubt || g->is_settled))
        return;
    outcome = order_sale_conclude(&it->sale);
    g->is_in_doubt = g->is_in_doubt || outcome == OUTCOME_UNKNOWN;
    g->is_settled = g->is_settled || (is_unsure && outcome != OUTCOME_UNKNOWN);
    judge(g->w, it, outcome);
}

/* ---- the sale ---- */

/* A sale_batch_watch. */
static bool watch(enum sale_point point, struct db_conn *db, size_t i, void *group)
{
    struct group *g = group;

    (void)db;
    return order_sale_watch(&g->members[i]->sale, point);
}

static void sell_alone(struct group *g, struct stream_writing *it)
{
    enum outcome outcome;

    it->is_blocked = g->is_locked;
    if (!g->is_locked && !g->is_in_doubt && !g->is_down && g->w->db == NULL)
        g->is_down = worker_take_db(g->w) != OUTCOME_ACCEPTED;
    if (g->is_locked || g->is_in_doubt || g->is_down)
        return;
    outcome = order_sale_run(&it->sale);
    g->is_in_doubt = outcome == OUTCOME_UNKNOWN;
    g->is_locked = it->sale.sale.status == DB_TIMEOUT;
    judge(g->w, it, outcome);
}

static void sell_batch(struct group *g)
{
    for (size_t i = 0; i < g->count; i++) {
        if (g->all[i]->sale.is_cut)
            continue;
        order_sale_begin(&g->all[i]->sale);
        g->batch.sales[g->batch.count] = &g->all[i]->sale.sale;
        g->members[g->batch.count++] = g->all[i];
    }
    if (g->batch.count > 1) {
        sale_batch_run(g->w->db, &g->batch, watch, g);
        order_sale_warn_of_batch(&g->batch);
        g->is_locked = g->batch.status == DB_TIMEOUT;
    }
    for (size_t i = 0; i < g->batch.count; i++)
        if (g->batch.is_over[i])
            conclude(g, g->members[i]);
    for (size_t i = 0; i < g->batch.count; i++)
        if (!g->batch.is_over[i])
            sell_alone(g, g->members[i]);
    for (size_t i = 0; i < g->count; i++)
        if (g->all[i]->sale.is_cut)
            sell_alone(g, g->all[i]);
}

/* ---- locks ---- */

static void prepare(struct group *g, struct stream_writing *it, struct order_lock *lock)
{
    const struct stream_entry *e = &it->entry;

    it->request = (struct order_request){
        .user_id = e->user_id,
        .voucher_id = e->voucher_id,
        .request_id = e->request_id,
        .is_named_by_client = true,
        .trace_id = e->trace_id[0] != '\0' ? e->trace_id : NULL,
    };
    it->attempt = (struct order_attempt){
        .worker = g->w,
        .request = &it->request,
        .admitted_us = e->admitted_us,
        .drawn_id = e->order_id,
    };
    it->sale = (struct order_sale){.order = &it->attempt, .w = g->w, .lock = lock};
}

/* Judge the times of the sale again, by the time under the MAC of each order: the service that let
 * it in may have used times as old as voucher_cache.h allows.  Put the orders that came in time
 * into `open`, and return their number.  Under the voucher's lock, a second order of a user is left
 * for the next group, because the guard `count` sees no order of its own transaction. */
static size_t choose_open(struct group *g, struct stream_writing *const *writings, size_t count,
                          struct stream_writing **open)
{
    static const int64_t OLD_US = VOUCHER_CACHE_OLD_MS * 1000;
    bool has_one = g->w->service->config->lock_scope_is_voucher;
    struct voucher_window window = {0};
    enum outcome found = voucher_cache_get(
        g->w->service->vouchers, writings[0]->entry.voucher_id, sale_window_read, g->w, &window);
    size_t opened = 0;

    for (size_t i = 0; i < count; i++) {
        struct stream_writing *it = writings[i];
        size_t same = 0;

        while (same < opened && open[same]->entry.user_id != it->entry.user_id)
            same++;
        if (has_one && same < opened)
            continue;
        it->is_tried = true;
        it->lock = (struct order_lock){0};
        prepare(g, it, has_one ? &g->lock : &it->lock);
        if (found != OUTCOME_ACCEPTED)
            judge(g->w, it, found);
        else if (it->entry.admitted_us < window.begin_us - OLD_US)
            judge(g->w, it, OUTCOME_NOT_STARTED);
        else if (it->entry.admitted_us > window.end_us + OLD_US)
            judge(g->w, it, OUTCOME_ENDED);
        else
            open[opened++] = it;
    }
    worker_give_db(g->w);
    return opened;
}

/* Take the lock of an order, waiting for it until `until_ns`. */
static enum outcome take_lock(struct group *g, struct stream_writing *it, int64_t until_ns)
{
    int64_t left_ms = (until_ns - dlock_clock_ns()) / DLOCK_NS_PER_MS;
    enum outcome outcome = order_lock_take_within(g->w, &it->request, it->sale.lock,
                                                  left_ms > 0 ? left_ms : 0);

    it->is_blocked = outcome == OUTCOME_LOCK_BUSY;
    return outcome;
}

/* Take the locks of the orders.  With --lock-scope=user each order has its own lock,
 * and an order whose lock is busy is tried again later.  All waits together last at
 * most --lock-wait: a writer that waited so long for each lock would block, with the
 * locks that it has already, another writer for the sum of all waits. */
static void take_locks(struct group *g, struct stream_writing *const *writings, size_t count)
{
    const struct config *config = g->w->service->config;
    bool has_one = config->lock_scope_is_voucher;
    int64_t until_ns = dlock_clock_after(dlock_clock_ns(), config->lock_wait_ms);
    enum outcome outcome = OUTCOME_ACCEPTED;

    for (size_t i = 0; i < count; i++) {
        struct stream_writing *it = writings[i];

        if (!has_one || i == 0)
            outcome = take_lock(g, it, until_ns);
        else if (outcome == OUTCOME_ACCEPTED)
            order_lock_trace(g->w->service, &g->lock.lease, it->request.trace_id);
        else
            it->is_blocked = writings[0]->is_blocked;
        if (outcome == OUTCOME_ACCEPTED &&
            !order_sale_is_lost_at(&it->sale, DLOCK_FAULT_AFTER_ACQUIRE))
            g->all[g->count++] = it;
    }
}

static void give_locks(struct group *g, struct stream_writing *const *writings, size_t count)
{
    void (*give)(struct worker *, struct order_lock *) =
        g->is_in_doubt ? order_lock_abandon : order_lock_give;

    give(g->w, &g->lock);
    for (size_t i = 0; i < count; i++)
        give(g->w, &writings[i]->lock);
}

void stream_sell(struct worker *w, struct stream_writing *const *writings, size_t count)
{
    struct group g = {.w = w};
    struct stream_writing *open[STREAM_BATCH_MAX];

    if (!worker_choose_voucher(w, writings[0]->entry.voucher_id)) {
        for (size_t i = 0; i < count; i++)
            writings[i]->is_tried = writings[i]->is_blocked = true;
        return;
    }
    count = choose_open(&g, writings, count, open);
    take_locks(&g, open, count);
    if (g.count > 0 && worker_take_db(w) == OUTCOME_ACCEPTED)
        sell_batch(&g);
    worker_give_db(w);
    give_locks(&g, open, count);
}
