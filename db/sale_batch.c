/* SPDX-License-Identifier: MIT */
/* sale_batch.c -- sells to several users in one transaction. */
#include "db/sale_batch.h"

#include <stdio.h>
#include <string.h>

#include "db/instant.h"
#include "db/sale_columns.h"
#include "db/sale_steps.h"

/* Finds the users of a batch that have an order already. */
static const struct postgres_statement COUNT_EARLIER = {
    "batch_count_earlier",
    "SELECT DISTINCT user_id FROM tb_voucher_order"
    " WHERE voucher_id = $1 AND user_id = ANY($2::bigint[])",
    "it"};

/* Finds the orders that the unique indexes, or refuse_second_order(), would refuse. */
static const struct postgres_statement LOOK_FOR_DUPLICATES = {
    "batch_look_for_duplicates",
    "SELECT user_id FROM tb_voucher_order WHERE user_id = ANY($2::bigint[])"
    " AND (voucher_id = $1 OR request_id = ANY($3::text[]))",
    "itt"};

/* The values are only names, for sale_batch_script(). */
static const struct sale_statement INSERT = {
    {"batch_insert",
     "INSERT INTO tb_voucher_order (user_id, voucher_id, request_id, lock_variant,"
     " stock_guard, duplicate_guard, process, fence, admitted_at, id)"
     " SELECT o.user_id, $1, o.request_id, $2, $3, "
     SALE_DUPLICATE_GUARD("$4", "$1", "o.user_id") ", $5, nullif(o.fence, 0),"
     " " INSTANT_OF_US("nullif(o.admitted_us, 0)")
     ", coalesce(nullif(o.drawn_id, 0), next_order_id())"
     " FROM unnest($6::bigint[], $7::text[], $8::bigint[], $9::bigint[], $10::bigint[])"
     " AS o (user_id, request_id, fence, admitted_us, drawn_id)"
     " RETURNING id, user_id, request_id",
     "ittttttttt"},
    {SALE_VALUE_VOUCHER, SALE_VALUE_LOCK_VARIANT, SALE_VALUE_STOCK_GUARD,
     SALE_VALUE_DUPLICATE_GUARD, SALE_VALUE_PROCESS, SALE_VALUE_USER, SALE_VALUE_REQUEST,
     SALE_VALUE_FENCE, SALE_VALUE_ADMITTED, SALE_VALUE_DRAWN},
};

static const struct postgres_statement RECORD = {
    "batch_record",
    "INSERT INTO tb_voucher_write (voucher_id, lock_name, fence, request_id, user_id,"
    " process, guard, outcome)"
    " SELECT $1, o.lock_name, nullif(o.fence, 0), o.request_id, o.user_id, $2, $3, $4"
    " FROM unnest($5::bigint[], $6::text[], $7::bigint[], $8::text[])"
    " AS o (user_id, request_id, fence, lock_name)",
    "itttttt" "t"};

/* A batch under way. */
struct run {
    struct db_conn *db;
    struct sale_batch *batch;
    sale_batch_watch *watch;
    void *arg;
    struct sale head; /* the values for the guard's statements, for the whole batch */
    bool is_out[SALE_BATCH_MAX]; /* has to be sold alone */
    bool is_without_unit[SALE_BATCH_MAX]; /* no unit was left after the others */
};

static bool is_in(const struct run *r, size_t i)
{
    return !r->batch->is_over[i] && !r->is_out[i];
}

static int64_t count_in(const struct run *r)
{
    int64_t count = 0;

    for (size_t i = 0; i < r->batch->count; i++)
        count += is_in(r, i);
    return count;
}

static void end(struct run *r, size_t i, enum sale_answer answer)
{
    r->batch->sales[i]->answer = answer;
    r->batch->is_over[i] = true;
}

static void end_all(struct run *r, enum sale_answer answer)
{
    for (size_t i = 0; i < r->batch->count; i++)
        if (is_in(r, i))
            end(r, i, answer);
}

/* ---- columns ---- */

struct columns {
    struct sale_column users, requests, fences, admitted, drawn, locks;
};

static void fill(const struct run *r, struct columns *columns)
{
    for (size_t i = 0; i < r->batch->count; i++) {
        const struct sale *sale = r->batch->sales[i];

        if (!is_in(r, i))
            continue;
        sale_column_add_integer(&columns->users, sale->user_id);
        sale_column_add_text(&columns->requests, sale->request_id);
        sale_column_add_integer(&columns->fences, sale->fence);
        sale_column_add_integer(&columns->admitted, sale->admitted_us);
        sale_column_add_integer(&columns->drawn, sale->drawn_id);
        sale_column_add_text(&columns->locks, sale->lock_name);
    }
}

static bool is_whole(struct columns *columns)
{
    return sale_column_text(&columns->users) != NULL &&
           sale_column_text(&columns->requests) != NULL &&
           sale_column_text(&columns->fences) != NULL &&
           sale_column_text(&columns->admitted) != NULL &&
           sale_column_text(&columns->drawn) != NULL &&
           sale_column_text(&columns->locks) != NULL;
}

static void free_columns(struct columns *columns)
{
    sale_column_free(&columns->users);
    sale_column_free(&columns->requests);
    sale_column_free(&columns->fences);
    sale_column_free(&columns->admitted);
    sale_column_free(&columns->drawn);
    sale_column_free(&columns->locks);
}

/* ---- the sequence ---- */

static void begin(struct run *r)
{
    const struct sale *first = r->batch->sales[0];

    r->head = (struct sale){.terms = first->terms,
                            .voucher_id = first->voucher_id,
                            .fence = first->fence};
    r->head.begins = true;
}

/* Remove the sales whose user is in the rows of the given statement. */
static void drop_users(struct run *r, size_t statement, bool are_over)
{
    for (size_t row = 0; row < db_rows(r->db, statement); row++) {
        int64_t user = db_int(r->db, statement, row, 0);

        for (size_t i = 0; i < r->batch->count; i++) {
            if (!is_in(r, i) || r->batch->sales[i]->user_id != user)
                continue;
            if (are_over)
                end(r, i, SALE_COUNTED);
            else
                r->is_out[i] = true;
        }
    }
}

/* Keep only the first of several sales of one user. */
static void drop_repeated_users(struct run *r)
{
    for (size_t i = 0; i < r->batch->count; i++)
        for (size_t k = 0; k < i && is_in(r, i); k++)
            if (is_in(r, k) &&
                r->batch->sales[k]->user_id == r->batch->sales[i]->user_id)
                r->is_out[i] = true;
}

/* Keep the reason why the transaction fails, before ROLLBACK replaces it. */
static enum db_status note(struct run *r, enum db_status st)
{
    if (st == DB_OK || st == DB_UNIQUE)
        return st;
    r->batch->status = st;
    (void)snprintf(r->batch->why, sizeof(r->batch->why), "%s", db_error(r->db));
    return st;
}

/* Make the reads of the guards, and after a collision those of the indexes.  False: it
 * failed, or no sale is left. */
static bool read(struct run *r, struct columns *columns, bool looks)
{
    const struct stock_guard *guard = r->head.terms->stock_guard;
    bool counts = r->head.terms->duplicate_guard == DUPLICATE_GUARD_COUNT;
    struct postgres_value values[] = {DB_INT(r->head.voucher_id),
                                DB_TEXT(sale_column_text(&columns->users)),
                                DB_TEXT(sale_column_text(&columns->requests))};
    size_t i = 1;

    if (!counts && !looks && guard->read == NULL)
        return true;
    sale_queue(r->db, &sale_statement_begin, &r->head);
    r->head.begins = false;
    if (counts)
        db_queue(r->db, &COUNT_EARLIER, values);
    if (looks)
        db_queue(r->db, &LOOK_FOR_DUPLICATES, values);
    if (guard->read != NULL)
        sale_queue(r->db, guard->read, &r->head);
    if (note(r, db_run(r->db)) != DB_OK)
        return false;
    if (counts)
        drop_users(r, i++, true);
    if (looks) {
        drop_users(r, i++, false);
        drop_repeated_users(r);
    }
    if (guard->read != NULL)
        sale_keep_read(r->db, i, &r->head);
    if (guard->read != NULL && r->head.stock < 1)
        end_all(r, SALE_SOLD_OUT);
    return count_in(r) > 0;
}

/* Call the watcher for every sale at a point.  False: one gave up. */
static bool pass(struct run *r, enum sale_point point, enum sale_answer given_up)
{
    bool ok = true;

    for (size_t i = 0; i < r->batch->count && r->watch != NULL; i++) {
        if (!is_in(r, i) || r->watch(point, r->db, i, r->arg))
            continue;
        end(r, i, given_up);
        ok = false;
    }
    return ok;
}

/* End the sales for which no unit was left, as SOLD_OUT. */
static void end_those_without_a_unit(struct run *r)
{
    int64_t units = r->head.units;

    for (size_t i = 0; i < r->batch->count; i++)
        if (is_in(r, i) && units-- <= 0) {
            end(r, i, SALE_SOLD_OUT);
            r->is_without_unit[i] = true;
        }
}

/* The transaction failed, or its outcome is unknown: the units of the others may be
 * free again, so these sales are not sold out. */
static void take_back_those_without_a_unit(struct run *r)
{
    for (size_t i = 0; i < r->batch->count; i++)
        r->batch->is_over[i] = r->batch->is_over[i] && !r->is_without_unit[i];
    memset(r->is_without_unit, 0, sizeof(r->is_without_unit));
}

static bool take(struct run *r)
{
    const struct stock_guard *guard = r->head.terms->stock_guard;

    r->head.units = count_in(r);
    if (guard->read != NULL && r->head.units > r->head.stock)
        r->head.units = r->head.stock;
    if (!sale_take(r->db, &r->head)) {
        (void)note(r, r->head.status);
        return false;
    }
    end_those_without_a_unit(r);
    return true;
}

static void queue_rows(struct run *r, struct columns *columns)
{
    const struct sale_terms *terms = r->head.terms;
    const char *guard = terms->stock_guard->name;
    const char *users = sale_column_text(&columns->users);
    const char *requests = sale_column_text(&columns->requests);
    const char *fences = sale_column_text(&columns->fences);

    db_queue(r->db, &INSERT.sql,
             DB_VALUES(DB_INT(r->head.voucher_id), DB_TEXT(terms->lock_variant),
                       DB_TEXT(guard),
                       DB_TEXT(duplicate_guard_name_at(terms->duplicate_guard)),
                       DB_TEXT(terms->process), DB_TEXT(users), DB_TEXT(requests),
                       DB_TEXT(fences), DB_TEXT(sale_column_text(&columns->admitted)),
                       DB_TEXT(sale_column_text(&columns->drawn))));
    if (r->batch->sales[0]->lock_name != NULL)
        db_queue(r->db, &RECORD,
                 DB_VALUES(DB_INT(r->head.voucher_id), DB_TEXT(terms->process),
                           DB_TEXT(guard), DB_TEXT(sale_answer_name(SALE_SOLD)),
                           DB_TEXT(users), DB_TEXT(requests), DB_TEXT(fences),
                           DB_TEXT(sale_column_text(&columns->locks))));
}

/* Is the inserted row that of the sale? */
static bool is_row_of(const struct run *r, size_t row, const struct sale *sale)
{
    return db_int(r->db, 0, row, 1) == sale->user_id &&
           strcmp(db_text(r->db, 0, row, 2), sale->request_id) == 0;
}

/* Set the order ids.  The rows nearly always come in the order in which they were sent,
 * so the search for each begins after the last one. */
static void keep_order_ids(struct run *r)
{
    size_t rows = db_rows(r->db, 0), row = 0;

    for (size_t i = 0; i < r->batch->count; i++) {
        struct sale *sale = r->batch->sales[i];

        if (!is_in(r, i))
            continue;
        for (size_t n = 0; n < rows && !is_row_of(r, row % rows, sale); n++)
            row++;
        sale->order_id = db_int(r->db, 0, row % rows, 0);
        row++;
    }
}

static void keep_transaction(struct run *r)
{
    for (size_t i = 0; i < r->batch->count; i++) {
        struct sale *sale = r->batch->sales[i];

        if (!is_in(r, i))
            continue;
        (void)snprintf(sale->xid, sizeof(sale->xid), "%s", r->head.xid);
        sale->backend_pid = r->head.backend_pid;
    }
}

/* Insert the orders' rows and the record's lines, and commit. */
static enum db_status insert_and_commit(struct run *r)
{
    struct columns columns = {0};
    enum db_status st = DB_UNABLE;

    fill(r, &columns);
    if (!is_whole(&columns))
        goto out;
    r->head.backend_pid = db_backend_pid(r->db);
    queue_rows(r, &columns);
    sale_queue(r->db, &sale_statement_commit, &r->head);
    st = note(r, db_run(r->db));
    if (st == DB_OK)
        keep_order_ids(r);
out:
    free_columns(&columns);
    return st;
}

static void conclude(struct run *r, enum db_status st)
{
    keep_transaction(r);
    if (st == DB_LOST)
        end_all(r, SALE_UNSURE);
    if (st != DB_OK)
        return;
    (void)pass(r, SALE_AFTER_COMMIT, SALE_UNSURE);
    end_all(r, SALE_SOLD);
}

/* Run the transaction once.  True: a unique index refused a row, and another try that
 * looks for the duplicates first can find it. */
static bool try_once(struct run *r, bool looks)
{
    struct columns columns = {0};
    enum db_status st = DB_ERROR;

    begin(r);
    fill(r, &columns);
    if (is_whole(&columns) && read(r, &columns, looks) &&
        (looks || pass(r, SALE_AFTER_READ, SALE_GIVEN_UP) || count_in(r) > 0) && take(r) &&
        pass(r, SALE_BEFORE_COMMIT, SALE_GIVEN_UP)) {
        st = insert_and_commit(r);
        conclude(r, st);
    }
    if (st != DB_OK)
        take_back_those_without_a_unit(r);
    free_columns(&columns);
    sale_cancel(r->db);
    return st == DB_UNIQUE && !looks;
}

void sale_batch_run(struct db_conn *db, struct sale_batch *batch, sale_batch_watch *watch,
                    void *arg)
{
    struct run r = {.db = db, .batch = batch, .watch = watch, .arg = arg};

    memset(batch->is_over, 0, sizeof(batch->is_over));
    batch->status = DB_OK;
    batch->why[0] = '\0';
    if (try_once(&r, false))
        (void)try_once(&r, true);
}

bool sale_batch_script(const struct sale_terms *terms, char *out, size_t size)
{
    return sale_script_with(terms, &INSERT, out, size);
}
