/* SPDX-License-Identifier: MIT */
/* order.h -- an order's transaction, step by step, and what became of it.
 *
 *     order_begin -> the guard's take -> order_insert -> order_commit
 *
 * After any answer but OK the caller calls order_cancel(), except where a COMMIT was
 * sent and DB_LOST came back: then nobody knows, and order_settle() finds out.
 */
#ifndef DB_ORDER_H
#define DB_ORDER_H

#include "db/conn.h"
#include "db/guard.h"
#include "db/pool.h"

/* What an order row says. */
struct order_row {
    int64_t user_id;
    int64_t voucher_id;
    const char *request_id;
    const char *lock_variant;
    const char *stock_guard;
    const char *duplicate_guard;
    const char *process;
    int64_t admitted_us; /* the instant of the database's clock at which the sale's window
                          * was checked, since 1970; 0: nobody checked it */
    int64_t fence; /* 0: the lock has none */
    const char *lock_name; /* for the record of writes; NULL: none is kept */
};

/* An order that was found. */
struct order_found {
    bool found;
    int64_t id;
    int64_t user_id;
    int64_t voucher_id;
};

/* Begin a transaction, and in the same round trip count the user's earlier orders (if
 * `earlier` is not NULL) and do the guard's read (if it has one) into `sale`.  With nothing
 * to count or read nothing is sent: the guard's take sends BEGIN ahead (sale->begins). */
enum db_status order_begin(struct db_conn *db, const struct stock_guard *guard,
                           int64_t user_id, struct guard_sale *sale, int64_t *earlier);

/* Insert the order, and in the same round trip its line in the record of writes, if one
 * is kept.  OK: *id is its number.
 *   UNIQUE   a constraint refused it: order_is_duplicate() or order_is_repeated() */
enum db_status order_insert(struct db_conn *db, const struct order_row *row,
                            int64_t *id);

/* Commit.  LOST: it may or may not have been. */
enum db_status order_commit(struct db_conn *db);

/* Insert and commit in one round trip.  UNIQUE as order_insert(), LOST as
 * order_commit(). */
enum db_status order_insert_and_commit(struct db_conn *db, const struct order_row *row,
                                       int64_t *id);

/* Roll back, and in the same round trip write down that `guard` refused this write: an
 * outcome such as "stale".  OK: it is written down.  Whatever the answer, nothing else of
 * the transaction remains. */
enum db_status order_refuse(struct db_conn *db, const struct order_row *row,
                            const char *guard, const char *outcome);

/* Are the orders' table and all its columns there?  ERROR: db_error() names what is not. */
enum db_status order_look_for_table(struct db_conn *db);

/* Is the record of writes there, and may this role add to it?  OK with *is_there. */
enum db_status order_look_for_record(struct db_conn *db, bool *is_there);

/* Roll back, if there is something to roll back. */
void order_cancel(struct db_conn *db);

/* After DB_UNIQUE: was it one order per user, or the request's id that was there? */
bool order_is_duplicate(const struct db_conn *db);
bool order_is_repeated(const struct db_conn *db);

/* Look for an order by the user and the request that made it, or by its number.  A
 * request's id belongs to its user: another user's request of the same id is another one.
 * OK with !found: there is none so far; a request that is still under way may make one any
 * moment. */
enum db_status order_find_request(struct db_conn *db, int64_t user_id,
                                  const char *request_id, struct order_found *out);
enum db_status order_find(struct db_conn *db, int64_t order_id,
                          struct order_found *out);

/* A COMMIT that was sent. */
struct order_commit {
    int64_t user_id;
    int64_t voucher_id;
    const char *request_id;
    const char *xid; /* of its transaction */
    int backend_pid; /* the server process that it was sent to */
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
 * decides it.  *id is written only with SOLD and SOLD_BEFORE.  If the server no longer
 * knows how the transaction ended, an order that is there counts as SOLD.  Each question
 * takes a connection of the pool and gives it back; the caller has none. */
enum order_settled order_settle(struct db_pool *pool, const struct order_commit *commit,
                                int64_t wait_ms, int64_t *id);

#endif /* DB_ORDER_H */
