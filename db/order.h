/* SPDX-License-Identifier: MIT */
/* order.h -- look for orders, and find out what became of a COMMIT that was not answered. */
#ifndef DB_ORDER_H
#define DB_ORDER_H

#include "db/conn.h"
#include "db/pool.h"

/* An order that was found. */
struct order_found {
    bool found;
    int64_t id;
    int64_t user_id;
    int64_t voucher_id;
};

/* Look for an order by the user and the request that made it, or by its number.  A
 * request's id belongs to its user: another user's request of the same id is another one.
 * OK with !found: there is none so far; a request that is still under way may make one any
 * moment. */
enum db_status order_find_request(struct db_conn *db, int64_t user_id,
                                  const char *request_id, struct order_found *out);
enum db_status order_find(struct db_conn *db, int64_t order_id,
                          struct order_found *out);

/* Would the orders that are visible now survive the loss of the server?  Without a
 * synchronous standby that is not asked for.  With one, a COMMIT that was cancelled while
 * it waited for the standby, or that the server recovered after a crash, is visible here
 * and may be missing there: this waits until the standby has all that was committed before.
 *   OK         yes, or there is no synchronous standby
 *   UNABLE     no: the standby is away, and a COMMIT waits for it already
 *   otherwise  nobody knows */
enum db_status order_confirm(struct db_conn *db);

/* A COMMIT that was sent. */
struct order_commit {
    int64_t user_id;
    int64_t voucher_id;
    const char *request_id;
    const char *xid; /* of its transaction */
    int backend_pid; /* the server process that it was sent to, as db_backend_pid() names it */
};

enum order_settled {
    ORDER_SOLD,        /* it was committed; *id is the order's number */
    ORDER_SOLD_BEFORE, /* it was not, and never will be, since another transaction had
                        * the same user, voucher and id; *id is that one's order */
    ORDER_NOT_SOLD,    /* it was not, and never will be; the id has no order */
    ORDER_ID_TAKEN,    /* it was not, and never will be, since the user has
                        * ordered another voucher under the id */
    ORDER_UNSETTLED,   /* the time was up first, or the database cannot tell */
};

/* Find out what became of a COMMIT that was not answered: ask, for at most `wait_ms`,
 * what the database says of its transaction.  If that stays open because the server
 * process still waits for its dead client, that process is told to give up, which
 * decides it.  A process that waits for a synchronous standby is left alone, and an order
 * counts only when the standby has it (order_confirm()).  *id is written only with SOLD and SOLD_BEFORE.  If the server no longer
 * knows how the transaction ended, an order that is there counts as SOLD.  Each question
 * takes a connection of the pool and gives it back; the caller has none. */
enum order_settled order_settle(struct db_pool *pool, const struct order_commit *commit,
                                int64_t wait_ms, int64_t *id);

#endif /* DB_ORDER_H */
