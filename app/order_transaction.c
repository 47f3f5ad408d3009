/* SPDX-License-Identifier: MIT */
/* order_transaction.c -- orders whose clients wait for the COMMIT.
 *
 * Alone: an order has its own lock and its own transaction.  Of the orders that hold their locks,
 * one voucher has only so many in transactions that a connection is left to the others.
 *
 * Shared: the thread that leads a voucher's lane takes all orders that wait, sells them in one
 * transaction and lets their threads answer.  A batch of one runs the statements of an order alone.
 * With --lock-scope=user every order holds its own lock before it joins the lane, and gives it back
 * afterwards.  With --lock-scope=voucher the leader takes the lock once for the batch, and all
 * orders of the batch have its fence. */
#include <string.h>

#include "app/handlers.h"
#include "app/lane.h"
#include "app/order_sale.h"
#include "app/worker_pool.h"
#include "base/os/clock.h"
#include "base/text/duration.h"
#include "db/sale_batch.h"

/* An order, while it is on one of these paths. */
struct waiting_order {
    struct order_sale sale;
    struct order_lock lock; /* the order's own lock, or, for a leader, the voucher's */
    struct lane_place place;
    enum outcome outcome;
    bool is_alone;     /* it has a transaction of its own, and holds its lock */
    bool is_unsettled; /* its COMMIT was not answered, and its own thread finds out the
                        * outcome */
};

/* The orders that a leader sells at once. */
struct batch {
    struct worker *w; /* the leader's */
    struct lane_place *places[SALE_BATCH_MAX];
    size_t count;
    struct sale_batch sale; /* of the orders that can share a transaction */
    struct waiting_order *shared[SALE_BATCH_MAX]; /* the same orders, in the order of
                                                   * the sale */
    bool has_tried;   /* a transaction was begun */
    int64_t until_ns; /* after this no further order is sold alone */
};

static struct waiting_order *order_of(const struct lane_place *place)
{
    return place->order;
}

static bool is_counting_under_one_lock(const struct service *service)
{
    return service->config->lock_scope_is_voucher &&
           service->terms.duplicate_guard == DUPLICATE_GUARD_COUNT;
}

/* May the order join the batch?  The duplicate guard `count` does not see the other
 * orders of the batch.  Under the lock of the user, two orders of one user can meet in
 * a batch only if the lock has failed, and that failure must stay visible, so they may
 * share it.  Under the voucher's lock they go into different batches, one after the
 * other, as without batches. */
static bool fits(const struct lane_place *place, struct lane_place *const *batch,
                 size_t count)
{
    const struct order_attempt *order = order_of(place)->sale.order;

    if (!is_counting_under_one_lock(order->worker->service))
        return true;
    for (size_t i = 0; i < count; i++)
        if (order_of(batch[i])->sale.order->request->user_id == order->request->user_id)
            return false;
    return true;
}

/* The instant at which the wait for the database ends that begins now. */
static int64_t until_database_ns(const struct config *config)
{
    return monotonic_ns() + config->database_wait_ms * DLOCK_NS_PER_MS;
}

/* ---- the leader ---- */

/* Answer all orders alike; after DATABASE_BUSY for the reason of the leader's worker. */
static void answer_all(struct batch *b, enum outcome outcome)
{
    for (size_t i = 0; i < b->count; i++) {
        struct waiting_order *waiting = order_of(b->places[i]);

        waiting->outcome = outcome;
        waiting->sale.order->worker->busy_why = b->w->busy_why;
    }
}

/* A sale_batch_watch. */
static bool watch(enum sale_point point, struct db_conn *db, size_t i, void *batch)
{
    struct batch *b = batch;

    (void)db;
    return order_sale_watch(&b->shared[i]->sale, point);
}

/* Set the outcome of an order of the batch. */
static void conclude(struct waiting_order *waiting)
{
    waiting->is_unsettled = waiting->sale.sale.answer == SALE_UNSURE;
    waiting->outcome =
        waiting->is_unsettled ? OUTCOME_UNKNOWN : order_sale_conclude(&waiting->sale);
}

/* Sell an order alone that the batch could not end.  After until_ns the order is
 * refused if a transaction was tried before, so that the timeouts of several hanging orders
 * do not add up. */
static void sell_alone(struct batch *b, struct waiting_order *waiting)
{
    struct worker *own = waiting->sale.order->worker;

    if (b->has_tried && monotonic_ns() >= b->until_ns) {
        LIMITED_WARN("an order of voucher %lld was refused: the orders that were sold together "
                     "with it left no time of --database-wait to sell it alone",
                     (long long)waiting->sale.order->request->voucher_id);
        waiting->outcome = worker_is_busy(
            own, "the orders that were sold together with this one took as long as "
                 "--database-wait allows");
        return;
    }
    b->has_tried = true;
    waiting->outcome = b->w->db != NULL ? OUTCOME_ACCEPTED : worker_take_db(b->w);
    own->busy_why = b->w->busy_why;
    if (waiting->outcome == OUTCOME_ACCEPTED)
        waiting->outcome = order_sale_run(&waiting->sale);
}

static void add_to_sale(struct batch *b, struct waiting_order *waiting)
{
    order_sale_begin(&waiting->sale);
    b->sale.sales[b->sale.count] = &waiting->sale.sale;
    b->shared[b->sale.count++] = waiting;
}

static void count_batch(const struct batch *b)
{
    struct metrics_cell *cell = b->w->cell;

    metrics_count(&cell->batches);
    metrics_record_size(&cell->batch_size, b->sale.count);
    for (size_t i = 0; i < b->sale.count; i++)
        metrics_count(&cell->batched);
}

/* Sell the batch on the leader's connection.  Orders whose connection a fault has to
 * cut are sold alone, so that the cut affects no other order. */
static void sell_connected(struct batch *b)
{
    bool is_over[SALE_BATCH_MAX] = {false};

    for (size_t i = 0; i < b->count; i++)
        if (!order_of(b->places[i])->sale.is_cut)
            add_to_sale(b, order_of(b->places[i]));
    if (b->sale.count > 1) {
        b->has_tried = true;
        sale_batch_run(b->w->db, &b->sale, watch, b);
        order_sale_warn_of_batch(&b->sale);
        memcpy(is_over, b->sale.is_over, sizeof(is_over));
        count_batch(b);
    }
    for (size_t i = 0; i < b->sale.count; i++)
        if (is_over[i])
            conclude(b->shared[i]);
    for (size_t i = 0; i < b->sale.count; i++)
        if (!is_over[i])
            sell_alone(b, b->shared[i]);
    for (size_t i = 0; i < b->count; i++)
        if (order_of(b->places[i])->sale.is_cut)
            sell_alone(b, order_of(b->places[i]));
}

/* The wait for the voucher's lock is over, so it takes no time from --database-wait. */
static void sell_batch(struct batch *b)
{
    enum outcome outcome;

    b->until_ns = until_database_ns(b->w->service->config);
    outcome = worker_take_db(b->w);
    if (outcome != OUTCOME_ACCEPTED)
        answer_all(b, outcome);
    else
        sell_connected(b);
    worker_give_db(b->w);
}

/* May a transaction of the batch still be open?  The orders share one transaction, so
 * the first of them finds out its outcome now: the voucher's lock must not be released
 * while the transaction may be open. */
static bool is_any_open(struct batch *b)
{
    bool is_open = false, is_asked = false;

    for (size_t i = 0; i < b->count; i++) {
        struct waiting_order *waiting = order_of(b->places[i]);

        if (waiting->is_unsettled && !is_asked) {
            is_asked = true;
            waiting->outcome = order_sale_conclude(&waiting->sale);
            waiting->is_unsettled = false;
        }
        is_open = is_open ||
                  (!waiting->is_unsettled && waiting->outcome == OUTCOME_UNKNOWN);
    }
    return is_open;
}

/* Sell the batch under the voucher's lock, which the leader takes for all orders. */
static void sell_under_one_lock(struct batch *b)
{
    struct waiting_order *leader = order_of(b->places[0]);
    enum outcome outcome = order_lock_take(b->w, leader->sale.order->request,
                                           &leader->lock);

    if (outcome != OUTCOME_ACCEPTED) {
        answer_all(b, outcome);
        /* The leader's own order was counted when it asked for the lock. */
        for (size_t i = 1; i < b->count && outcome == OUTCOME_LOCK_BUSY; i++)
            metrics_count(&b->w->cell->stopped[LAYER_LOCK]);
        return;
    }
    for (size_t i = 0; i < b->count; i++) {
        order_of(b->places[i])->sale.lock = &leader->lock;
        if (i > 0) /* the trace of the leader was noted when it got the lock */
            order_lock_trace(b->w->service, &leader->lock.lease,
                             order_of(b->places[i])->sale.order->request->trace_id);
    }
    if (order_sale_is_lost_at(&leader->sale, DLOCK_FAULT_AFTER_ACQUIRE))
        answer_all(b, OUTCOME_UNAVAILABLE);
    else
        sell_batch(b);
    if (is_any_open(b))
        order_lock_abandon(b->w, &leader->lock);
    else
        order_lock_give(b->w, &leader->lock);
}

static void lead(struct waiting_order *leader)
{
    const struct config *config = leader->sale.w->service->config;
    struct lanes *lanes = leader->sale.w->service->lanes;
    struct batch b = {.w = leader->sale.w};

    b.count = lane_take(lanes, &leader->place, fits, b.places,
                        leader->is_alone ? 1 : SALE_BATCH_MAX);
    for (size_t i = 0; i < b.count; i++)
        order_of(b.places[i])->sale.w = b.w;
    if (config->lock_scope_is_voucher && !leader->is_alone)
        sell_under_one_lock(&b);
    else
        sell_batch(&b);
    lane_finish(lanes, &leader->place, b.places, b.count);
}

/* ---- every order ---- */

/* The instant at which the wait in the lane ends.  While the leader waits for the lock
 * of the voucher, the orders behind the leader wait for that lock too. */
static int64_t until_lane_ns(const struct waiting_order *waiting)
{
    const struct config *config = waiting->sale.w->service->config;
    bool leader_locks = config->lock_scope_is_voucher && !waiting->is_alone;
    int64_t lock_ms = leader_locks ? config->lock_wait_ms : 0;

    return until_database_ns(config) + lock_ms * DLOCK_NS_PER_MS;
}

/* Refuse an order that no leader took, after a wait since `entered_ns`. */
static enum outcome refuse(const struct order_attempt *order, enum lane_answer answer,
                           int64_t entered_ns)
{
    const struct service *service = order->worker->service;
    const struct config *config = service->config;
    long long voucher = order->request->voucher_id;
    long long waiting = lanes_waiting(service->lanes);

    switch (answer) {
    case LANE_FULL:
        LIMITED_WARN("an order of voucher %lld was refused: %lld orders wait to be sold, and "
                     "--orders-waiting is %lld",
                     voucher, waiting, (long long)config->orders_waiting);
        return worker_is_busy(order->worker, "as many orders wait as --orders-waiting allows");
    case LANE_VOUCHER_FULL:
        LIMITED_WARN("an order of voucher %lld was refused: --orders-waiting-per-voucher is %lld",
                     voucher, (long long)config->voucher_orders_waiting);
        return worker_is_busy(order->worker, "as many orders of this voucher wait as "
                                             "--orders-waiting-per-voucher allows");
    default:
        LIMITED_WARN("an order of voucher %lld was refused: it waited %lld ms for the transaction "
                     "that sells the orders before it; %lld orders still wait",
                     voucher, (long long)((monotonic_ns() - entered_ns) / DLOCK_NS_PER_MS),
                     waiting);
        return worker_is_busy(order->worker, "the orders before this one were not sold in time");
    }
}

/* Wait until the order leads or its batch has ended.  Meanwhile the worker rests, and is no user of
 * the database.  An order that leads, or has to find out its own outcome, works on. */
static enum lane_answer wait_in_lane(struct waiting_order *waiting)
{
    struct worker *w = waiting->sale.order->worker;
    struct service *service = w->service;
    enum lane_answer answer;

    if (service->config->waits_without_worker) {
        worker_leave(w);
        worker_pool_rest(service->workers[LISTENER_ORDERS], w);
    }
    answer = lane_wait(service->lanes, &waiting->place, until_lane_ns(waiting));
    if (w->rests && (answer == LANE_LEADS || waiting->is_unsettled)) {
        worker_pool_resume(service->workers[LISTENER_ORDERS], w);
        partitions_enter_again(service->databases, w->partition);
        w->is_inside = true;
    }
    return answer;
}

/* Wait in the lane until the order is sold, or will not be sold. */
static void go_through_lane(struct waiting_order *waiting)
{
    const struct order_attempt *order = waiting->sale.order;
    int64_t entered_ns = monotonic_ns();
    enum lane_answer answer;

    waiting->place.order = waiting;
    answer = lane_join(order->worker->service->lanes, order->request->voucher_id,
                       &waiting->place);
    if (answer == LANE_WAITS)
        answer = wait_in_lane(waiting);
    if (answer == LANE_LEADS)
        lead(waiting);
    else if (answer != LANE_DONE)
        waiting->outcome = refuse(order, answer, entered_ns);
    waiting->sale.w = order->worker;
    if (waiting->is_unsettled)
        waiting->outcome = order_sale_conclude(&waiting->sale);
}

/* Sell an order under a lock that the order holds itself. */
static enum outcome sell_with_own_lock(struct waiting_order *waiting)
{
    struct worker *w = waiting->sale.w;
    enum outcome outcome =
        order_lock_take(w, waiting->sale.order->request, &waiting->lock);

    if (outcome != OUTCOME_ACCEPTED)
        return outcome;
    if (order_sale_is_lost_at(&waiting->sale, DLOCK_FAULT_AFTER_ACQUIRE))
        waiting->outcome = OUTCOME_UNAVAILABLE;
    else
        go_through_lane(waiting);
    if (waiting->outcome == OUTCOME_UNKNOWN)
        order_lock_abandon(w, &waiting->lock);
    else
        order_lock_give(w, &waiting->lock);
    return waiting->outcome;
}

enum outcome order_transaction_alone(struct order_attempt *order)
{
    struct waiting_order waiting = {
        .sale = {.order = order, .w = order->worker, .lock = &waiting.lock}, .is_alone = true};

    return sell_with_own_lock(&waiting);
}

enum outcome order_transaction_shared(struct order_attempt *order)
{
    struct waiting_order waiting = {
        .sale = {.order = order, .w = order->worker, .lock = &waiting.lock}};

    if (!order->worker->service->config->lock_scope_is_voucher)
        return sell_with_own_lock(&waiting);
    go_through_lane(&waiting);
    return waiting.outcome;
}
