/* SPDX-License-Identifier: MIT */
/* sale.c -- sells one unit of a voucher: the sequence of statements. */
#include "db/sale.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "db/instant.h"
#include "db/sale_needs.h"
#include "db/sale_steps.h"

static const struct sale_statement COUNT_EARLIER = {
    {"order_count_earlier",
     "SELECT count(*) FROM tb_voucher_order WHERE voucher_id = $1 AND user_id = $2",
     "ii"},
    {SALE_VALUE_VOUCHER, SALE_VALUE_USER},
};

static const struct sale_statement INSERT = {
    {"order_insert",
     "INSERT INTO tb_voucher_order (user_id, voucher_id, request_id, lock_variant,"
     " stock_guard, duplicate_guard, process, fence, admitted_at, id)"
     " VALUES ($1, $2, $3, $4, $5, " SALE_DUPLICATE_GUARD("$6", "$2", "$1") ", $7,"
     " nullif($8::bigint, 0),"
     " " INSTANT_OF_US("nullif($9::bigint, 0)") ","
     " coalesce(nullif($10::bigint, 0), next_order_id())) RETURNING id",
     "iitttttiii"},
    {SALE_VALUE_USER, SALE_VALUE_VOUCHER, SALE_VALUE_REQUEST, SALE_VALUE_LOCK_VARIANT,
     SALE_VALUE_STOCK_GUARD, SALE_VALUE_DUPLICATE_GUARD, SALE_VALUE_PROCESS,
     SALE_VALUE_FENCE, SALE_VALUE_ADMITTED, SALE_VALUE_DRAWN},
};

/* The position is drawn when the row is inserted.  The transaction of an accepted order
 * has locked the voucher's row by then, so positions are in the order of the sales. */
static const struct sale_statement RECORD = {
    {"order_record",
     "INSERT INTO tb_voucher_write (voucher_id, lock_name, fence, request_id, user_id,"
     " process, guard, outcome) VALUES ($1, $2, nullif($3, 0), $4, $5, $6, $7, $8)",
     "ititittt"},
    {SALE_VALUE_VOUCHER, SALE_VALUE_LOCK_NAME, SALE_VALUE_FENCE, SALE_VALUE_REQUEST,
     SALE_VALUE_USER, SALE_VALUE_PROCESS, SALE_VALUE_DECIDED_BY, SALE_VALUE_OUTCOME},
};

/* Checks the column that was added last; if it exists, all others do. */
static const struct postgres_statement LOOK_FOR_TABLE = {
    "order_look_for_table",
    "SELECT admitted_at FROM tb_voucher_order LIMIT 0",
    "",
};

static const struct postgres_statement LOOK_FOR_NEEDS = {
    "order_look_for_needs",
    "SELECT coalesce(" SALE_LACKS ", '')",
    "i",
};

/* ---- what the database refuses ---- */

void sale_cancel(struct db_conn *db)
{
    if (db_in_transaction(db) && db_run_one(db, &sale_statement_rollback.sql, NULL) != DB_OK)
        db_disconnect(db); /* closing the connection rolls back too */
}

/* Roll back, and in the same round trip write the refusal into the record of writes.
 * The insert after the ROLLBACK is its own transaction. */
static enum sale_answer refuse(struct db_conn *db, struct sale *sale,
                               const char *decided_by, enum sale_answer answer)
{
    sale->answer = answer;
    sale->decided_by = decided_by;
    if (sale->lock_name == NULL) {
        sale_cancel(db);
        return answer;
    }
    sale_queue(db, &sale_statement_rollback, sale);
    sale_queue(db, &RECORD, sale);
    sale->record_status = db_run(db);
    if (sale->record_status != DB_OK)
        db_disconnect(db); /* rolls back a transaction that may be open */
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

bool sale_begin(struct db_conn *db, struct sale *sale)
{
    const struct stock_guard *guard = sale->terms->stock_guard;
    bool counts = sale->terms->duplicate_guard == DUPLICATE_GUARD_COUNT;
    size_t i = 1;

    sale->units = 1;
    sale->begins = !counts && guard->read == NULL;
    if (sale->begins)
        return true;
    sale_queue(db, &sale_statement_begin, sale);
    if (counts)
        sale_queue(db, &COUNT_EARLIER, sale);
    if (guard->read != NULL)
        sale_queue(db, guard->read, sale);
    sale->status = db_run(db);
    sale->answer = sale->status == DB_OK ? SALE_SOLD : SALE_FAILED;
    if (sale->answer == SALE_FAILED)
        return false;
    if (counts && db_int(db, i++, 0, 0) > 0)
        sale->answer = SALE_COUNTED;
    if (guard->read != NULL)
        sale_keep_read(db, i, sale);
    if (sale->answer == SALE_SOLD && guard->read != NULL && sale->stock < 1)
        sale->answer = SALE_SOLD_OUT;
    if (sale->answer != SALE_SOLD)
        sale_cancel(db);
    return sale->answer == SALE_SOLD;
}

/* Insert the order's row and its line in the record, and commit, in one round trip. */
static enum sale_answer insert_and_commit(struct db_conn *db, struct sale *sale)
{
    sale->answer = SALE_SOLD;
    sale->decided_by = sale->terms->stock_guard->name;
    sale->backend_pid = db_backend_pid(db);
    sale_queue(db, &INSERT, sale);
    if (sale->lock_name != NULL)
        sale_queue(db, &RECORD, sale);
    sale_queue(db, &sale_statement_commit, sale);
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
    if (!sale_take(db, sale))
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

enum db_status sale_look_for_needs(struct db_conn *db, bool records, const char **lacks)
{
    enum db_status st = db_run_one(db, &LOOK_FOR_NEEDS, DB_VALUES(DB_INT(records)));

    *lacks = st == DB_OK ? db_text(db, 0, 0, 0) : "";
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

bool sale_script_with(const struct sale_terms *terms, const struct sale_statement *insert,
                      char *out, size_t size)
{
    const struct sale_statement *const SEQUENCE[] = {
        &sale_statement_begin, terms->stock_guard->take, insert, &sale_statement_commit};
    size_t length = 0;

    if (terms->stock_guard->read != NULL || terms->duplicate_guard == DUPLICATE_GUARD_COUNT)
        return false;
    for (size_t i = 0; i < sizeof(SEQUENCE) / sizeof(SEQUENCE[0]) && length < size; i++)
        length += add_statement(SEQUENCE[i], out + length, size - length);
    return length < size;
}

bool sale_script(const struct sale_terms *terms, char *out, size_t size)
{
    return sale_script_with(terms, &INSERT, out, size);
}
