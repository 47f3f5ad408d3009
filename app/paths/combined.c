/* SPDX-License-Identifier: MIT */
/* combined.c -- one transaction for all orders of a voucher that wait in this process.
 *
 * The thread that leads a voucher's lane takes all orders that wait, sells them in one
 * transaction and lets their threads answer. A batch of one runs the statements of each.c.
 *
 * With --lock-scope=user every order holds its own lock before it joins the lane, and gives
 * it back afterwards.  With --lock-scope=voucher the leader takes the lock once for the
 * batch, and all orders of the batch have its fence. */
#include <string.h>

#include "app/lane.h"
#include "app/order_sale.h"
#include "base/os/clock.h"
#include "base/text/limited.h"
#include "db/sale_batch.h"

/* An order, while it is on this path. */
struct entrant {
    struct order_sale sale;
    struct order_lock lock; /* its own, or, of a leader, the voucher's */
    struct lane_place place;
    enum outcome outcome;
    bool is_unsettled; /* its COMMIT was not answered, and its own thread finds out */
};

/* The orders that a leader sells at once. */
struct company {
    struct worker *w; /* the leader's */
    struct lane_place *places[SALE_BATCH_MAX];
    size_t count;
    struct sale_batch batch;
    struct entrant *members[SALE_BATCH_MAX]; /* of the batch: those that can share it */
    int64_t until_ns; /* later no sale is begun */
};

static struct entrant *entrant_of(const struct lane_place *place)
{
    return place->order;
}

static bool is_counting_under_one_lock(const struct service *service)
{
    return service->config->lock_scope_is_voucher &&
           service->terms.duplicate_guard == DUPLICATE_GUARD_COUNT;
}

/* A count does not see the batch that it is made for.  Two orders of one user share a batch
 * under the user's own lock only if that lock has failed, which has to be seen; under the
 * voucher's lock they come one after the other, as they would alone. */
static bool fits(const struct lane_place *place, struct lane_place *const *batch,
                 size_t count)
{
    const struct order_attempt *order = entrant_of(place)->sale.order;

    if (!is_counting_under_one_lock(order->worker->service))
        return true;
    for (size_t i = 0; i < count; i++)
        if (entrant_of(batch[i])->sale.order->request->user_id == order->request->user_id)
            return false;
    return true;
}

/* ---- the leader ---- */

static void answer_all(struct company *c, enum outcome outcome)
{
    for (size_t i = 0; i < c->count; i++)
        entrant_of(c->places[i])->outcome = outcome;
}

/* A sale_batch_watch. */
static bool watch(enum sale_point point, struct db_conn *db, size_t i, void *company)
{
    struct company *c = company;

    (void)db;
    return order_sale_watch(&c->members[i]->sale, point);
}

/* Tell a member how its order came out of the batch. */
static void conclude(struct entrant *e)
{
    e->is_unsettled = e->sale.sale.answer == SALE_UNSURE;
    e->outcome = e->is_unsettled ? OUTCOME_UNKNOWN : order_sale_conclude(&e->sale);
}

/* A sale that the batch could not end.  One that hangs must not make all others wait for
 * their own time-outs one after the other. */
static void sell_alone(struct company *c, struct entrant *e)
{
    if (monotonic_ns() >= c->until_ns) {
        e->outcome = OUTCOME_DATABASE_BUSY;
        return;
    }
    e->outcome = c->w->db != NULL ? OUTCOME_ACCEPTED : worker_take_db(c->w);
    if (e->outcome == OUTCOME_ACCEPTED)
        e->outcome = order_sale_run(&e->sale);
}

static void add_member(struct company *c, struct entrant *e)
{
    order_sale_begin(&e->sale);
    c->batch.sales[c->batch.count] = &e->sale.sale;
    c->members[c->batch.count++] = e;
}

static void count_batch(const struct company *c)
{
    struct metrics_cell *cell = c->w->cell;

    metrics_count(&cell->batches);
    for (size_t i = 0; i < c->batch.count; i++)
        metrics_count(&cell->batched);
}

/* On the connection that the leader has.  Those whose connection a fault wants to cut are
 * sold alone, so that the cut meets nobody else. */
static void sell_batch(struct company *c)
{
    bool is_over[SALE_BATCH_MAX] = {false};

    for (size_t i = 0; i < c->count; i++)
        if (!entrant_of(c->places[i])->sale.is_cut)
            add_member(c, entrant_of(c->places[i]));
    if (c->batch.count > 1) {
        sale_batch_run(c->w->db, &c->batch, watch, c);
        memcpy(is_over, c->batch.is_over, sizeof(is_over));
        count_batch(c);
    }
    for (size_t i = 0; i < c->batch.count; i++)
        if (is_over[i])
            conclude(c->members[i]);
    for (size_t i = 0; i < c->batch.count; i++)
        if (!is_over[i])
            sell_alone(c, c->members[i]);
    for (size_t i = 0; i < c->count; i++)
        if (entrant_of(c->places[i])->sale.is_cut)
            sell_alone(c, entrant_of(c->places[i]));
}

static void sell_company(struct company *c)
{
    enum outcome outcome = worker_take_db(c->w);

    if (outcome != OUTCOME_ACCEPTED)
        answer_all(c, outcome);
    else
        sell_batch(c);
    worker_give_db(c->w);
}

/* The members of a batch share one transaction, so that one of them settles it for the
 * voucher's lock: after that no transaction of this batch is open. */
static bool is_any_open(struct company *c)
{
    bool is_open = false, is_asked = false;

    for (size_t i = 0; i < c->count; i++) {
        struct entrant *e = entrant_of(c->places[i]);

        if (e->is_unsettled && !is_asked) {
            is_asked = true;
            e->outcome = order_sale_conclude(&e->sale);
            e->is_unsettled = false;
        }
        is_open = is_open || (!e->is_unsettled && e->outcome == OUTCOME_UNKNOWN);
    }
    return is_open;
}

/* Under the voucher's lock, which the leader takes for all. */
static void sell_under_one_lock(struct company *c)
{
    struct entrant *leader = entrant_of(c->places[0]);
    enum outcome outcome = order_lock_take(c->w, leader->sale.order->request,
                                           &leader->lock);

    if (outcome != OUTCOME_ACCEPTED) {
        answer_all(c, outcome);
        /* The leader's own order was counted as it asked for the lock. */
        for (size_t i = 1; i < c->count && outcome == OUTCOME_LOCK_BUSY; i++)
            metrics_count(&c->w->cell->stopped[LAYER_LOCK]);
        return;
    }
    for (size_t i = 0; i < c->count; i++)
        entrant_of(c->places[i])->sale.lock = &leader->lock;
    if (order_sale_is_lost_at(&leader->sale, DLOCK_FAULT_AFTER_ACQUIRE))
        answer_all(c, OUTCOME_UNAVAILABLE);
    else
        sell_company(c);
    if (is_any_open(c))
        order_lock_abandon(c->w, &leader->lock);
    else
        order_lock_give(c->w, &leader->lock);
}

static void lead(struct entrant *leader)
{
    const struct config *config = leader->sale.w->service->config;
    struct lanes *lanes = leader->sale.w->service->lanes;
    struct company c = {.w = leader->sale.w};

    c.count = lane_take(lanes, &leader->place, fits, c.places, SALE_BATCH_MAX);
    c.until_ns = monotonic_ns() + config->database_wait_ms * DLOCK_NS_PER_MS;
    for (size_t i = 0; i < c.count; i++)
        entrant_of(c.places[i])->sale.w = c.w;
    if (config->lock_scope_is_voucher)
        sell_under_one_lock(&c);
    else
        sell_company(&c);
    lane_finish(lanes, &leader->place, c.places, c.count);
}

/* ---- every order ---- */

/* Until a leader has sold the order, or nobody will. */
static void go_through_lane(struct entrant *e)
{
    const struct order_attempt *order = e->sale.order;
    const struct service *service = order->worker->service;
    int64_t until_ns =
        monotonic_ns() + service->config->database_wait_ms * DLOCK_NS_PER_MS;

    e->place.order = e;
    switch (lane_enter(service->lanes, order->request->voucher_id, &e->place, until_ns)) {
    case LANE_LEADS:
        lead(e);
        break;
    case LANE_DONE:
        break;
    case LANE_LATE:
    case LANE_FULL:
        LIMITED_WARN("an order of voucher %lld waited in vain: %lld orders wait to be sold",
                     (long long)order->request->voucher_id,
                     (long long)lanes_waiting(service->lanes));
        e->outcome = OUTCOME_DATABASE_BUSY;
        break;
    }
    e->sale.w = order->worker;
    if (e->is_unsettled)
        e->outcome = order_sale_conclude(&e->sale);
}

/* Under the user's lock, which every order holds by itself. */
static enum outcome sell_with_own_lock(struct entrant *e)
{
    struct worker *w = e->sale.w;
    enum outcome outcome = order_lock_take(w, e->sale.order->request, &e->lock);

    if (outcome != OUTCOME_ACCEPTED)
        return outcome;
    if (order_sale_is_lost_at(&e->sale, DLOCK_FAULT_AFTER_ACQUIRE))
        e->outcome = OUTCOME_UNAVAILABLE;
    else
        go_through_lane(e);
    if (e->outcome == OUTCOME_UNKNOWN)
        order_lock_abandon(w, &e->lock);
    else
        order_lock_give(w, &e->lock);
    return e->outcome;
}

static enum outcome sell(struct order_attempt *order)
{
    struct entrant e = {.sale = {.order = order, .w = order->worker, .lock = &e.lock}};

    if (!order->worker->service->config->lock_scope_is_voucher)
        return sell_with_own_lock(&e);
    go_through_lane(&e);
    return e.outcome;
}

const struct order_path order_path_combined = {
    .name = "combined",
    .sell = sell,
};
