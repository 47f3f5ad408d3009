/* SPDX-License-Identifier: MIT */
/* order.c -- the SQL about orders. */
#include "db/order.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/text/duration.h"
#include "db/instant.h"

static const struct db_statement COMMIT = {"order_commit", "COMMIT", ""};
static const struct db_statement ROLLBACK = {"order_rollback", "ROLLBACK", ""};

static const struct db_statement COUNT_EARLIER = {
    "order_count_earlier",
    "SELECT count(*) FROM tb_voucher_order WHERE voucher_id = $1 AND user_id = $2",
    "ii",
};

static const struct db_statement INSERT = {
    "order_insert",
    "INSERT INTO tb_voucher_order (user_id, voucher_id, request_id, lock_variant,"
    " stock_guard, duplicate_guard, process, fence, admitted_at)"
    " VALUES ($1, $2, $3, $4, $5, $6, $7, nullif($8, 0),"
    " " INSTANT_OF_US("nullif($9, 0)") ") RETURNING id",
    "iitttttii",
};

/* The position is drawn when the row is made, and by then the transaction of an order that
 * is accepted has the voucher's row. */
static const struct db_statement RECORD = {
    "order_record",
    "INSERT INTO tb_voucher_write (voucher_id, lock_name, fence, request_id, user_id,"
    " process, guard, outcome) VALUES ($1, $2, nullif($3, 0), $4, $5, $6, $7, $8)",
    "ititittt",
};

/* Of the columns it is the last that came. */
static const struct db_statement LOOK_FOR_TABLE = {
    "order_look_for_table",
    "SELECT admitted_at FROM tb_voucher_order LIMIT 0",
    "",
};

static const struct db_statement LOOK_FOR_RECORD = {
    "order_look_for_record",
    "SELECT to_regclass('tb_voucher_write') IS NOT NULL"
    " AND has_table_privilege(to_regclass('tb_voucher_write'), 'INSERT')",
    "",
};

static const struct db_statement FIND_REQUEST = {
    "order_find_request",
    "SELECT id, user_id, voucher_id FROM tb_voucher_order"
    " WHERE user_id = $1 AND request_id = $2",
    "it",
};

static const struct db_statement FIND = {
    "order_find",
    "SELECT id, user_id, voucher_id FROM tb_voucher_order WHERE id = $1",
    "i",
};

static const struct db_statement ASK_STATUS = {
    "order_ask_status",
    "SELECT pg_xact_status($1::xid8)",
    "t",
};

/* Only the very transaction in question: process ids are used again. */
static const struct db_statement GIVE_UP = {
    "order_give_up",
    "SELECT pg_terminate_backend(pid) FROM pg_stat_activity"
    " WHERE pid = $1 AND backend_xid = $2::xid8::xid",
    "it",
};

enum db_status order_begin(struct db_conn *db, const struct stock_guard *guard,
                           int64_t user_id, struct guard_sale *sale, int64_t *earlier)
{
    size_t i = 1;
    enum db_status st;

    sale->begins = earlier == NULL && guard->read == NULL;
    if (sale->begins)
        return DB_OK;
    db_queue(db, &guard_begin, NULL);
    if (earlier != NULL)
        db_queue(db, &COUNT_EARLIER,
                 DB_VALUES(DB_INT(sale->voucher_id), DB_INT(user_id)));
    if (guard->read != NULL)
        db_queue(db, guard->read, DB_VALUES(DB_INT(sale->voucher_id)));
    st = db_run(db);
    if (st != DB_OK)
        return st;
    if (earlier != NULL)
        *earlier = db_int(db, i++, 0, 0);
    if (guard->read != NULL) {
        sale->stock = db_int(db, i, 0, 0);
        sale->version = db_int(db, i, 0, 1);
    }
    return DB_OK;
}

static void queue_insert(struct db_conn *db, const struct order_row *row)
{
    db_queue(db, &INSERT,
             DB_VALUES(DB_INT(row->user_id), DB_INT(row->voucher_id),
                       DB_TEXT(row->request_id), DB_TEXT(row->lock_variant),
                       DB_TEXT(row->stock_guard), DB_TEXT(row->duplicate_guard),
                       DB_TEXT(row->process), DB_INT(row->fence),
                       DB_INT(row->admitted_us)));
}

static void queue_record(struct db_conn *db, const struct order_row *row,
                         const char *guard, const char *outcome)
{
    if (row->lock_name != NULL)
        db_queue(db, &RECORD,
                 DB_VALUES(DB_INT(row->voucher_id), DB_TEXT(row->lock_name),
                           DB_INT(row->fence), DB_TEXT(row->request_id),
                           DB_INT(row->user_id), DB_TEXT(row->process), DB_TEXT(guard),
                           DB_TEXT(outcome)));
}

enum db_status order_insert(struct db_conn *db, const struct order_row *row,
                            int64_t *id)
{
    enum db_status st;

    queue_insert(db, row);
    queue_record(db, row, row->stock_guard, "accepted");
    st = db_run(db);
    if (st == DB_OK)
        *id = db_int(db, 0, 0, 0);
    return st;
}

enum db_status order_commit(struct db_conn *db)
{
    return db_run_one(db, &COMMIT, NULL);
}

enum db_status order_insert_and_commit(struct db_conn *db, const struct order_row *row,
                                       int64_t *id)
{
    enum db_status st;

    queue_insert(db, row);
    queue_record(db, row, row->stock_guard, "accepted");
    db_queue(db, &COMMIT, NULL);
    st = db_run(db);
    if (st == DB_OK)
        *id = db_int(db, 0, 0, 0);
    return st;
}

/* After the ROLLBACK the insert is a transaction of its own, which ends with the round
 * trip. */
enum db_status order_refuse(struct db_conn *db, const struct order_row *row,
                            const char *guard, const char *outcome)
{
    enum db_status st;

    db_queue(db, &ROLLBACK, NULL);
    queue_record(db, row, guard, outcome);
    st = db_run(db);
    if (st != DB_OK)
        db_disconnect(db); /* which rolls back what may still be open */
    return st;
}

enum db_status order_look_for_table(struct db_conn *db)
{
    return db_run_one(db, &LOOK_FOR_TABLE, NULL);
}

enum db_status order_look_for_record(struct db_conn *db, bool *is_there)
{
    enum db_status st = db_run_one(db, &LOOK_FOR_RECORD, NULL);

    *is_there = st == DB_OK && strcmp(db_text(db, 0, 0, 0), "t") == 0;
    return st;
}

void order_cancel(struct db_conn *db)
{
    if (db_in_transaction(db) && db_run_one(db, &ROLLBACK, NULL) != DB_OK)
        db_disconnect(db); /* which rolls back as well */
}

bool order_is_duplicate(const struct db_conn *db)
{
    return strcmp(db_constraint(db), "orders_one_per_user") == 0;
}

bool order_is_repeated(const struct db_conn *db)
{
    return strcmp(db_constraint(db), "orders_one_per_request") == 0;
}

static enum db_status find(struct db_conn *db, const struct db_statement *statement,
                           const struct db_value *values, struct order_found *out)
{
    enum db_status st = db_run_one(db, statement, values);

    *out = (struct order_found){0};
    if (st == DB_OK && db_rows(db, 0) == 1)
        *out = (struct order_found){true, db_int(db, 0, 0, 0), db_int(db, 0, 0, 1),
                                    db_int(db, 0, 0, 2)};
    return st;
}

enum db_status order_find_request(struct db_conn *db, int64_t user_id,
                                  const char *request_id, struct order_found *out)
{
    return find(db, &FIND_REQUEST, DB_VALUES(DB_INT(user_id), DB_TEXT(request_id)),
                out);
}

enum db_status order_find(struct db_conn *db, int64_t order_id, struct order_found *out)
{
    return find(db, &FIND, DB_VALUES(DB_INT(order_id)), out);
}

/* Is the transaction over, as far as the server says?  A number that it does not know
 * is one that it had not written down when it crashed, so that one is over as well.
 * Any other refusal says nothing. */
static bool is_over(struct db_conn *db, const char *xid, bool *is_open,
                    bool *is_aborted)
{
    static const char UNKNOWN_NUMBER[] = "22023"; /* invalid_parameter_value */
    enum db_status st = db_run_one(db, &ASK_STATUS, DB_VALUES(DB_TEXT(xid)));

    *is_open = st == DB_OK && strcmp(db_text(db, 0, 0, 0), "in progress") == 0;
    *is_aborted = st == DB_OK && strcmp(db_text(db, 0, 0, 0), "aborted") == 0;
    if (st == DB_ERROR)
        return strcmp(db_state(db), UNKNOWN_NUMBER) == 0;
    return st == DB_OK && !*is_open;
}

/* Is it decided?  The status is asked before the row is: a transaction that is over has
 * either left its row or never will.  The request's id alone proves nothing, since the
 * user may have ordered another voucher under the same; then this transaction's insert was
 * refused. */
static enum order_settled ask_once(struct db_conn *db, const struct order_commit *c,
                                   int64_t *id, bool *is_open)
{
    struct order_found order;
    bool is_aborted = false;

    if (!is_over(db, c->xid, is_open, &is_aborted))
        return ORDER_UNSETTLED;
    if (order_find_request(db, c->user_id, c->request_id, &order) != DB_OK)
        return ORDER_UNSETTLED;
    if (!order.found)
        return ORDER_NOT_SOLD;
    if (order.voucher_id != c->voucher_id)
        return ORDER_ID_TAKEN;
    *id = order.id;
    return is_aborted ? ORDER_SOLD_BEFORE : ORDER_SOLD;
}

static void pause_ms(long ms)
{
    struct timespec t = {.tv_sec = 0, .tv_nsec = ms * 1000000};

    (void)nanosleep(&t, NULL);
}

enum order_settled order_settle(struct db_pool *pool, const struct order_commit *commit,
                                int64_t wait_ms, int64_t *id)
{
    enum { FIRST_MS = 5, LAST_MS = 100, PATIENCE = 3 };
    int64_t deadline_ns = monotonic_ns() + wait_ms * 1000000;
    long ms = FIRST_MS;

    for (int asked_open = 0;; ms = ms * 2 > LAST_MS ? LAST_MS : ms * 2) {
        int64_t left_ms = (deadline_ns - monotonic_ns()) / 1000000;
        enum order_settled settled = ORDER_UNSETTLED;
        struct db_taken taken;
        bool is_open = false;

        if (db_pool_take(pool, left_ms > 0 ? left_ms : 0, &taken) == DB_OK) {
            settled = ask_once(taken.db, commit, id, &is_open);
            if (is_open && ++asked_open == PATIENCE)
                (void)db_run_one(taken.db, &GIVE_UP,
                                 DB_VALUES(DB_INT(commit->backend_pid),
                                           DB_TEXT(commit->xid)));
            db_pool_give(pool, taken.db);
        }
        if (settled != ORDER_UNSETTLED || monotonic_ns() >= deadline_ns)
            return settled;
        pause_ms(ms);
    }
}
