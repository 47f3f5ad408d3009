/* SPDX-License-Identifier: MIT */
/* order_sale.h -- the part of an order that is the same on every path: its sale, its
 * fault points, and the outcome for its client.
 *
 * Threads     An order sale is used by one thread at a time; its worker is that thread's.
 */
#ifndef APP_ORDER_SALE_H
#define APP_ORDER_SALE_H

#include "app/order_lock.h"
#include "app/order_path.h"
#include "db/sale_batch.h"
#include "lock/fault.h"

enum { ORDER_SQLSTATE_SIZE = 6, ORDER_WHY_MAX = 128 };

/* The caller sets the first three, which stay the caller's. */
struct order_sale {
    struct order_attempt *order;
    struct worker *w;        /* of the thread that uses this */
    struct order_lock *lock; /* under which the order is sold */

    bool is_cut;      /* a fault has to break the connection, which is not taken yet */
    int64_t asked_ns; /* the stock that the sale read is of this instant or later    */
    struct sale sale;
    char sqlstate[ORDER_SQLSTATE_SIZE]; /* after SALE_FAILED was concluded: PostgreSQL's
                                         * SQLSTATE ... */
    char why[ORDER_WHY_MAX];            /* ... and its message; both "" if there is
                                         * none */
};

/* Was an earlier request with this id accepted?  The worker has a connection.
 *   ACCEPTED   *placed is its order
 *   CONFLICT   the request's id belongs to an order of another voucher
 *   UNKNOWN    the order exists here, and the synchronous standby may lack it
 *   otherwise  if *is_new, there is no order of this id; if not, the database failed,
 *              as worker_db_failed() */
enum outcome order_replay(struct worker *w, const struct order_request *request,
                          struct order_placed *placed, bool *is_new);

/* Reach a fault point.  True: the caller has to act as if PostgreSQL did not answer.
 * After a cut, the next statement of the connection finds the failure. */
bool order_sale_is_lost_at(struct order_sale *e, dlock_fault_point point);

/* The same for a point between the statements; here --unlock=before-commit also
 * releases the lock.  False: give up. */
bool order_sale_watch(struct order_sale *e, enum sale_point point);

/* Fill e->sale from the order and its lock. */
void order_sale_begin(struct order_sale *e);

/* Return the outcome for the client, once e->sale has its answer, and count the order
 * in the cell of e->w.  After SALE_UNSURE, give back the connection of e->w, if it has
 * one, and find out the outcome of the COMMIT, for at most --settle-timeout.  After
 * SALE_FAILED, roll the transaction back. */
enum outcome order_sale_conclude(struct order_sale *e);

/* Log why the transaction of a batch failed, if it did.  If its COMMIT was not sent, its orders
 * are then sold alone; else each order asks for its own row. */
void order_sale_warn_of_batch(const struct sale_batch *batch);

/* Sell the order in its own transaction, on the connection of e->w: begin, every
 * statement, conclude.  Returns as order_sale_conclude(). */
enum outcome order_sale_run(struct order_sale *e);

#endif /* APP_ORDER_SALE_H */
