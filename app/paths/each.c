/* SPDX-License-Identifier: MIT */
/* each.c -- one transaction for each order: lock, sell, commit, unlock. */
#include "app/order_sale.h"

/* The part of an order that runs while the lock is held. */
static enum outcome sell_locked(struct order_sale *e)
{
    enum outcome outcome;

    if (order_sale_is_lost_at(e, DLOCK_FAULT_AFTER_ACQUIRE))
        return OUTCOME_UNAVAILABLE;
    outcome = worker_take_db(e->w);
    if (outcome == OUTCOME_ACCEPTED)
        outcome = order_sale_run(e);
    worker_give_db(e->w);
    return outcome;
}

static enum outcome sell(struct order_attempt *order)
{
    struct order_lock lock = {0};
    struct order_sale e = {.order = order, .w = order->worker, .lock = &lock};
    enum outcome outcome = order_lock_take(e.w, order->request, &lock);

    if (outcome != OUTCOME_ACCEPTED)
        return outcome;
    outcome = sell_locked(&e);
    if (outcome == OUTCOME_UNKNOWN)
        order_lock_abandon(e.w, &lock);
    else
        order_lock_give(e.w, &lock);
    return outcome;
}

const struct order_path order_path_each = {
    .name = "each",
    .sell = sell,
};
