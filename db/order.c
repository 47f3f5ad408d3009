/* SPDX-License-Identifier: MIT */
/* order.c -- finds orders, and finds out the outcome of a COMMIT that was not
 * answered. */
#include "db/order.h"

#include <stdlib.h>
#include <string.h>

#include "base/os/clock.h"

static const struct postgres_statement FIND_REQUEST = {
    "order_find_request",
    "SELECT id, user_id, voucher_id FROM tb_voucher_order"
    " WHERE user_id = $1 AND request_id = $2",
    "it",
};

static const struct postgres_statement FIND = {
    "order_find",
    "SELECT id, user_id, voucher_id FROM tb_voucher_order WHERE id = $1",
    "i",
};

static const struct postgres_statement ASK_STATUS = {
    "order_ask_status",
    "SELECT pg_xact_status($1::xid8)",
    "t",
};

/* End exactly the process that runs this transaction: process numbers are used again,
 * and after a promotion transaction numbers too.  A transaction that waits for a
 * synchronous standby is committed already; ending it would only make rows visible that
 * the standby may not have. */
static const struct postgres_statement GIVE_UP = {
    "order_give_up",
    "SELECT pg_terminate_backend(pid) FROM pg_stat_activity"
    " WHERE pid = $1 AND backend_xid = $2::xid8::xid"
    " AND wait_event IS DISTINCT FROM 'SyncRep'",
    "it",
};

/* The message is a record in the write-ahead log, and its COMMIT waits for the standby
 * like every COMMIT. If another COMMIT waits already, this one does not wait too. */
static const struct postgres_statement CONFIRM = {
    "order_confirm",
    "SELECT CASE WHEN current_setting('synchronous_standby_names') = ''"
    " OR current_setting('synchronous_commit') IN ('off', 'local') THEN 'alone'"
    " WHEN EXISTS (SELECT FROM pg_stat_activity WHERE wait_event = 'SyncRep')"
    " THEN 'waits' ELSE pg_logical_emit_message(true, 'seckill', 'confirm')::text END",
    "",
};

static enum db_status find(struct db_conn *db, const struct postgres_statement *statement,
                           const struct postgres_value *values, struct order_found *out)
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

enum db_status order_confirm(struct db_conn *db)
{
    enum db_status st = db_run_one(db, &CONFIRM, NULL);

    return st == DB_OK && strcmp(db_text(db, 0, 0, 0), "waits") == 0 ? DB_UNABLE : st;
}

/* Has the transaction ended, by the answer of the server?  If the server does not know
 * the number, it crashed before it had recorded the transaction, so the transaction has
 * ended too.  After any other refusal nothing is known. */
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

/* Ask for the outcome once.  The transaction's status is asked before its row: if the
 * transaction has ended, its row exists or never will.  The voucher of the row must be
 * checked too, because the user may have ordered another voucher under the same id;
 * then the insert of this transaction was refused. */
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
    if (order_confirm(db) != DB_OK)
        return ORDER_UNSETTLED;
    *id = order.id;
    return is_aborted ? ORDER_SOLD_BEFORE : ORDER_SOLD;
}

static void pause_ms(int64_t ms)
{
    dlock_clock_sleep_until(dlock_clock_after(dlock_clock_ns(), ms));
}

enum order_settled order_settle(struct db_pool *pool, const struct order_commit *commit,
                                int64_t wait_ms, int64_t *id)
{
    enum { FIRST_MS = 5, LAST_MS = 100, PATIENCE = 3 };
    int64_t deadline_ns = dlock_clock_ns() + wait_ms * 1000000;
    long ms = FIRST_MS;

    for (int asked_open = 0;; ms = ms * 2 > LAST_MS ? LAST_MS : ms * 2) {
        int64_t left_ms = (deadline_ns - dlock_clock_ns()) / 1000000;
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
        if (settled != ORDER_UNSETTLED || dlock_clock_ns() >= deadline_ns)
            return settled;
        pause_ms(ms);
    }
}
