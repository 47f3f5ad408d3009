/* SPDX-License-Identifier: MIT */
/* order_path.h -- the contract for order paths: how an admitted order becomes a row.
 *
 * Each path is a file in app/paths/ and a line in db/order_paths.def.  app/order.c first
 * checks the sale window and the admission, and then calls the path that --order-path
 * names.  After a final refusal, app/order.c looks for an earlier order of the same
 * request, and answers with that order.
 *
 * State       A path keeps no state of a process.  State that lasts from one order to
 *             the next is in struct service, so that two services in one process share no
 *             state.
 * Faults      While no fault point is armed, --allow-faults changes nothing: a path
 *             runs the same statements in the same round trips.
 */
#ifndef APP_ORDER_PATH_H
#define APP_ORDER_PATH_H

#include <stddef.h>

#include "app/order_request.h"
#include "app/outcome.h"

struct worker;

/* An order on its way through a path. */
struct order_attempt {
    struct worker *worker;
    const struct order_request *request;
    int64_t admitted_us; /* when the window was checked, by the database's clock */
    int64_t sale_end_us; /* of the window, by the same clock */
    int64_t drawn_id;    /* the number that the order is to have; 0: the database draws one */
    struct order_placed placed; /* written with ACCEPTED and QUEUED */
};

struct order_path {
    const char *name; /* MUST: the value of --order-path, and the file's name */

    /* MUST: sell the order's unit, from the lock to the answer.
     *
     * Threads     It is called on the request's own thread, on many at once.
     * Ownership   The caller owns the attempt and its texts.  When the call returns, no
     *             other thread may use them: a path that gives the order to another
     *             thread takes it back first, or waits for that thread.
     * Resources   The worker has no connection when the call comes and none when it returns.
     *             The order's lock is taken and given back in the call; after UNKNOWN it is
     *             abandoned.
     * Time        The call waits for the lock (--lock-wait), for a connection
     *             (--database-wait) and for its statements (--statement-timeout), each
     *             no longer than that setting, and for nothing else without a limit.
     *             If an order cannot begin in time, or too many orders are before it,
     *             the answer is DATABASE_BUSY. A stop of the service waits for calls in
     *             progress (--drain-timeout).
     * Neighbours  No order's answer depends on whether another order fails.
     *
     * A path that answers before there is a row answers QUEUED. Before that it has
     * stored the order where the order outlives this process.
     *
     * Answers ACCEPTED, QUEUED, QUEUE_FULL, SOLD_OUT, DUPLICATE, LOCK_BUSY, STALE,
     * CONFLICT, UNKNOWN_VOUCHER, DATABASE_BUSY, UNAVAILABLE, UNKNOWN or INTERNAL, each
     * as order_place() says. */
    enum outcome (*sell)(struct order_attempt *attempt);
};

/* The order path of that name; NULL: there is none. */
const struct order_path *order_path_find(const char *name);

/* The sell() of `each`: in a transaction of its own, under its own lock; and of `combined`:
 * together with the orders of its voucher that wait in this process (order_transaction.c). */
enum outcome order_transaction_alone(struct order_attempt *order);
enum outcome order_transaction_shared(struct order_attempt *order);

#endif /* APP_ORDER_PATH_H */
