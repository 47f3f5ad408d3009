/* SPDX-License-Identifier: MIT */
/* order.h -- looks for orders, and finds out the outcome of a COMMIT that was not
 * answered. */
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
 * request's id counts only together with its user.  OK with !found: there is no such
 * order now; a request that is still under way may create it later. */
enum db_status order_find_request(struct db_conn *db, int64_t user_id,
                                  const char *request_id, struct order_found *out);
enum db_status order_find(struct db_conn *db, int64_t order_id,
                          struct order_found *out);

/* Do the orders that are visible now exist on the synchronous standby too?  Without a
 * synchronous standby the answer is OK. With one, a COMMIT is visible on the server but
 * may be missing on the standby, if it was cancelled while it waited for the standby,
 * or if the server recovered it after a crash.  So this call waits until the standby
 * has all earlier commits.
 *   OK         yes, or there is no synchronous standby
 *   UNABLE     no: the standby does not answer, and a COMMIT waits for it already
 *   otherwise  not known */
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
    ORDER_SOLD_BEFORE, /* it was not and never will be committed: another transaction
                        * had the same user, voucher and id, and *id is its order */
    ORDER_NOT_SOLD,    /* it was not and never will be committed; the id has no order */
    ORDER_ID_TAKEN,    /* it was not and never will be committed: the user has ordered
                        * another voucher under the id */
    ORDER_UNSETTLED,   /* the time passed first, or the database cannot tell */
};

/* Find out the outcome of a COMMIT that was not answered: ask the database for the
 * state of its transaction, for at most `wait_ms`.  If the transaction stays open
 * because the server process still waits for its dead client, end that process, and
 * then the outcome is final.  A process that waits for a synchronous standby is left
 * alone, and an order counts only when the standby has it (order_confirm()).  *id is
 * written only with SOLD and SOLD_BEFORE. If the server has forgotten the outcome of
 * the transaction, an existing order counts as SOLD. Each question takes a connection
 * of the pool and gives it back; the caller must not have one. */
enum order_settled order_settle(struct db_pool *pool, const struct order_commit *commit,
                                int64_t wait_ms, int64_t *id);

#endif /* DB_ORDER_H */
