/* SPDX-License-Identifier: MIT */
/* sale.c -- the one sequence of statements that sells. */
#include "db/sale.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "db/instant.h"

enum { TRIES_MAX = 64 }; /* each lost try means that somebody else sold one */

static const struct sale_statement BEGIN = {{"order_begin", "BEGIN", ""}, {0}};
static const struct sale_statement COMMIT = {{"order_commit", "COMMIT", ""}, {0}};
static const struct sale_statement ROLLBACK = {{"order_rollback", "ROLLBACK", ""}, {0}};

static const struct sale_statement COUNT_EARLIER = {
    {"order_count_earlier",
     "SELECT count(*) FROM tb_voucher_order WHERE voucher_id = $1 AND user_id = $2",
     "ii"},
    {SALE_VALUE_VOUCHER, SALE_VALUE_USER},
};

static const struct sale_statement INSERT = {
    {"order_insert",
     "INSERT INTO tb_voucher_order (user_id, voucher_id, request_id, lock_variant,"
     " stock_guard, duplicate_guard, process, fence, admitted_at)"
     " VALUES ($1, $2, $3, $4, $5, $6, $7, nullif($8::bigint, 0),"
     " " INSTANT_OF_US("nullif($9::bigint, 0)") ") RETURNING id",
     "iitttttii"},
    {SALE_VALUE_USER, SALE_VALUE_VOUCHER, SALE_VALUE_REQUEST, SALE_VALUE_LOCK_VARIANT,
     SALE_VALUE_STOCK_GUARD, SALE_VALUE_DUPLICATE_GUARD, SALE_VALUE_PROCESS,
     SALE_VALUE_FENCE, SALE_VALUE_ADMITTED},
};

/* The position is drawn when the row is made, and by then the transaction of an order that
 * is accepted has the voucher's row. */
static const struct sale_statement RECORD = {
    {"order_record",
     "INSERT INTO tb_voucher_write (voucher_id, lock_name, fence, request_id, user_id,"
     " process, guard, outcome) VALUES ($1, $2, nullif($3, 0), $4, $5, $6, $7, $8)",
     "ititittt"},
    {SALE_VALUE_VOUCHER, SALE_VALUE_LOCK_NAME, SALE_VALUE_FENCE, SALE_VALUE_REQUEST,
     SALE_VALUE_USER, SALE_VALUE_PROCESS, SALE_VALUE_DECIDED_BY, SALE_VALUE_OUTCOME},
};

/* Of the columns it is the last that came. */
static const struct postgres_statement LOOK_FOR_TABLE = {
    "order_look_for_table",
    "SELECT admitted_at FROM tb_voucher_order LIMIT 0",
    "",
};

static const struct postgres_statement LOOK_FOR_RECORD = {
    "order_look_for_record",
    "SELECT to_regclass('tb_voucher_write') IS NOT NULL"
    " AND has_table_privilege(to_regclass('tb_voucher_write'), 'INSERT')",
    "",
};

const char *sale_answer_name(enum sale_answer answer)
{
    static const char *const NAMES[] = {
#define X(id, name) name,
        SALE_ANSWERS(X)
#undef X
    };

    return NAMES[answer];
}

/* ---- statements ---- */

static struct postgres_value value_of(const struct sale *sale, enum sale_value value)
{
    switch (value) {
#define X(id, name, type, where)                                                       \
    case SALE_VALUE_##id:                                                                    \
        return (struct postgres_value)DB_##type(where);
        SALE_VALUES(X)
#undef X
    }
    return (struct postgres_value)DB_NULL;
}

static void queue(struct db_conn *db, const struct sale_statement *statement,
                  const struct sale *sale)
{
    struct postgres_value values[SALE_STATEMENT_VALUES_MAX];
    size_t count = strlen(statement->sql.types);

    for (size_t i = 0; i < count; i++)
        values[i] = value_of(sale, statement->values[i]);
    db_queue(db, &statement->sql, values);
}

static bool fail(struct sale *sale, enum db_status status)
{
    sale->status = status;
    sale->answer = SALE_FAILED;
    return false;
}

/* ---- what the database refuses ---- */

void sale_cancel(struct db_conn *db)
{
    if (db_in_transaction(db) && db_run_one(db, &ROLLBACK.sql, NULL) != DB_OK)
        db_disconnect(db); /* which rolls back as well */
}

/* Roll back, and in the same round trip write into the record who refused what.  After the
 * ROLLBACK the insert is a transaction of its own, which ends with the round trip. */
static enum sale_answer refuse(struct db_conn *db, struct sale *sale,
                               const char *decided_by, enum sale_answer answer)
{
    sale->answer = answer;
    sale->decided_by = decided_by;
    if (sale->lock_name == NULL) {
        sale_cancel(db);
        return answer;
    }
    queue(db, &ROLLBACK, sale);
    queue(db, &RECORD, sale);
    sale->record_status = db_run(db);
    if (sale->record_status != DB_OK)
        db_disconnect(db); /* which rolls back what may still be open */
    return answer;
}

static enum sale_answer refuse_insert(struct db_conn *db, struct sale *sale)
{
    if (sale->status == DB_UNIQUE && strcmp(db_constraint(db), "orders_one_per_user") == 0)
        return refuse(db, sale, "unique", SALE_DUPLICATE);
    if (sale->status == DB_UNIQUE &&
        strcmp(db_constraint(db), "orders_one_per_request") == 0)
        return refuse(db, sale, "request-id", SALE_REPEATED);
    return sale->answer = SALE_FAILED;
}

/* ---- the sequence ---- */

static void keep_read(const struct db_conn *db, size_t i, struct sale *sale)
{
    sale->stock = db_int(db, i, 0, 0);
    sale->version = db_int(db, i, 0, 1);
    sale->row_fence = db_int(db, i, 0, 2);
}

bool sale_begin(struct db_conn *db, struct sale *sale)
{
    const struct stock_guard *guard = sale->terms->stock_guard;
    bool counts = sale->terms->duplicate_guard == DUPLICATE_GUARD_COUNT;
    size_t i = 1;

    sale->begins = !counts && guard->read == NULL;
    if (sale->begins)
        return true;
    queue(db, &BEGIN, sale);
    if (counts)
        queue(db, &COUNT_EARLIER, sale);
    if (guard->read != NULL)
        queue(db, guard->read, sale);
    sale->status = db_run(db);
    if (sale->status != DB_OK)
        return fail(sale, sale->status);
    sale->answer = SALE_SOLD;
    if (counts && db_int(db, i++, 0, 0) > 0)
        sale->answer = SALE_COUNTED;
    if (guard->read != NULL)
        keep_read(db, i, sale);
    if (sale->answer == SALE_SOLD && guard->read != NULL && sale->stock < 1)
        sale->answer = SALE_SOLD_OUT;
    if (sale->answer != SALE_SOLD)
        sale_cancel(db);
    return sale->answer == SALE_SOLD;
}

/* Run the guard's statement once.  False: it failed.  *is_taken: it took a unit. */
static bool try_to_take(struct db_conn *db, struct sale *sale, bool *is_taken)
{
    const size_t answer = sale->begins ? 1 : 0;

    if (sale->begins)
        queue(db, &BEGIN, sale);
    sale->begins = false;
    queue(db, sale->terms->stock_guard->take, sale);
    sale->status = db_run(db);
    if (sale->status != DB_OK)
        return fail(sale, sale->status);
    *is_taken = db_rows(db, answer) > 0;
    if (*is_taken)
        (void)snprintf(sale->xid, sizeof(sale->xid), "%s", db_text(db, answer, 0, 0));
    return true;
}

static bool read_again(struct db_conn *db, struct sale *sale)
{
    queue(db, sale->terms->stock_guard->read, sale);
    sale->status = db_run(db);
    if (sale->status != DB_OK)
        return fail(sale, sale->status);
    keep_read(db, 0, sale);
    return true;
}

/* True: one unit is written off in the open transaction.  False: sale->answer. */
static bool take(struct db_conn *db, struct sale *sale)
{
    const struct stock_guard *guard = sale->terms->stock_guard;

    for (int try = 0; try < TRIES_MAX; try++) {
        bool is_taken = false;

        if (!try_to_take(db, sale, &is_taken))
            return false;
        if (is_taken)
            return true;
        sale->answer = SALE_SOLD_OUT;
        if (!guard->retries)
            return false;
        if (!read_again(db, sale))
            return false;
        if (guard->is_stale != NULL && guard->is_stale(sale))
            sale->answer = SALE_STALE;
        if (sale->answer == SALE_STALE || sale->stock < 1)
            return false;
    }
    sale->answer = SALE_BUSY;
    return false;
}

/* The order's row, its line in the record, and COMMIT, in one round trip. */
static enum sale_answer insert_and_commit(struct db_conn *db, struct sale *sale)
{
    sale->answer = SALE_SOLD;
    sale->decided_by = sale->terms->stock_guard->name;
    sale->backend_pid = db_backend_pid(db);
    queue(db, &INSERT, sale);
    if (sale->lock_name != NULL)
        queue(db, &RECORD, sale);
    queue(db, &COMMIT, sale);
    sale->status = db_run(db);
    if (sale->status == DB_LOST)
        return sale->answer = SALE_UNSURE;
    if (sale->status != DB_OK)
        return refuse_insert(db, sale);
    sale->order_id = db_int(db, 0, 0, 0);
    return sale->answer;
}

enum sale_answer sale_finish(struct db_conn *db, struct sale *sale, sale_watch *watch,
                             void *arg)
{
    const char *guard = sale->terms->stock_guard->name;

    if (watch != NULL && !watch(SALE_AFTER_READ, db, arg)) {
        sale_cancel(db);
        return sale->answer = SALE_GIVEN_UP;
    }
    if (!take(db, sale))
        return sale->answer == SALE_FAILED ? SALE_FAILED
                                           : refuse(db, sale, guard, sale->answer);
    if (watch != NULL && !watch(SALE_BEFORE_COMMIT, db, arg)) {
        sale_cancel(db);
        return sale->answer = SALE_GIVEN_UP;
    }
    if (insert_and_commit(db, sale) == SALE_SOLD && watch != NULL &&
        !watch(SALE_AFTER_COMMIT, db, arg))
        sale->answer = SALE_UNSURE;
    return sale->answer;
}

enum db_status sale_look_for_table(struct db_conn *db)
{
    return db_run_one(db, &LOOK_FOR_TABLE, NULL);
}

enum db_status sale_look_for_record(struct db_conn *db, bool *is_there)
{
    enum db_status st = db_run_one(db, &LOOK_FOR_RECORD, NULL);

    *is_there = st == DB_OK && strcmp(db_text(db, 0, 0, 0), "t") == 0;
    return st;
}

/* ---- the same statements as a script ---- */

/* Add one statement with `:name` for each `$1`. */
static size_t add_statement(const struct sale_statement *statement, char *out, size_t size)
{
    static const char *const NAMES[] = {
#define X(id, name, type, where) name,
        SALE_VALUES(X)
#undef X
    };
    size_t length = 0;
    char *end = NULL;

    for (const char *p = statement->sql.sql; *p != '\0' && length < size; p++) {
        if (*p == '$') {
            long number = strtol(p + 1, &end, 10);

            length += (size_t)snprintf(out + length, size - length, ":%s",
                                       NAMES[statement->values[number - 1]]);
            p = end - 1;
        } else {
            out[length++] = *p;
        }
    }
    if (length < size)
        length += (size_t)snprintf(out + length, size - length, ";\n");
    return length;
}

bool sale_script(const struct sale_terms *terms, char *out, size_t size)
{
    const struct sale_statement *const SEQUENCE[] = {
        &BEGIN, terms->stock_guard->take, &INSERT, &COMMIT};
    size_t length = 0;

    if (terms->stock_guard->read != NULL || terms->duplicate_guard == DUPLICATE_GUARD_COUNT)
        return false;
    for (size_t i = 0; i < sizeof(SEQUENCE) / sizeof(SEQUENCE[0]) && length < size; i++)
        length += add_statement(SEQUENCE[i], out + length, size - length);
    return length < size;
}
