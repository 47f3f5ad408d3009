/* SPDX-License-Identifier: MIT */
/* order_sale.h -- the part of an order that is the same on every path: its sale, the points
 * at which faults are made, and the outcome that its client is told.
 *
 * Threads     An order sale is used by one thread at a time; its worker is that thread's.
 */
#ifndef APP_ORDER_SALE_H
#define APP_ORDER_SALE_H

#include "app/order_lock.h"
#include "app/order_path.h"
#include "db/sale.h"
#include "lock/fault.h"

enum { ORDER_SQLSTATE_SIZE = 6, ORDER_WHY_MAX = 128 };

/* The caller sets the first three, which stay the caller's. */
struct order_sale {
    struct order_attempt *order;
    struct worker *w;        /* of the thread that uses this */
    struct order_lock *lock; /* under which it is sold */

    bool is_cut;      /* a fault wants the connection broken that is not taken yet */
    int64_t asked_ns; /* the stock was as the sale found it at this moment, or later */
    struct sale sale;
    char sqlstate[ORDER_SQLSTATE_SIZE]; /* after a conclusion of SALE_FAILED: PostgreSQL's
                                         * reason ... */
    char why[ORDER_WHY_MAX];            /* ... and words; both "" if there is none */
};

/* Come to a point: is PostgreSQL to be lost there?  That a connection was cut is found out
 * by its next statement. */
bool order_sale_is_lost_at(struct order_sale *e, dlock_fault_point point);

/* The same for a point between the statements, where --unlock=before-commit gives the lock
 * back as well.  False: give up. */
bool order_sale_watch(struct order_sale *e, enum sale_point point);

/* Fill e->sale from the order and its lock. */
void order_sale_begin(struct order_sale *e);

/* The outcome that the client is told, once e->sale has its answer; the order is counted in
 * the cell of e->w.  After SALE_UNSURE this finds out what became of the COMMIT, for at most
 * --settle, and the connection of e->w, if it has one, is given back before.  After
 * SALE_FAILED the transaction is rolled back. */
enum outcome order_sale_conclude(struct order_sale *e);

/* Sell it in a transaction of its own, on the connection that e->w has: begin, every
 * statement, conclude. */
enum outcome order_sale_run(struct order_sale *e);

#endif /* APP_ORDER_SALE_H */
