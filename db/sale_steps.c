/* SPDX-License-Identifier: MIT */
/* sale_steps.c -- the steps that the sale of one unit and of a batch share. */
#include "db/sale_steps.h"

#include <stdio.h>
#include <string.h>

enum { TRIES_MAX = 64 }; /* a try fails only because another order was sold */

const struct sale_statement sale_statement_begin = {{"order_begin", "BEGIN", ""}, {0}};
const struct sale_statement sale_statement_commit = {{"order_commit", "COMMIT", ""}, {0}};
const struct sale_statement sale_statement_rollback = {{"order_rollback", "ROLLBACK", ""},
                                                       {0}};

static struct postgres_value value_of(const struct sale *sale, enum sale_value value)
{
    switch (value) {
#define X(id, name, type, where)                                                       \
    case SALE_VALUE_##id:                                                              \
        return (struct postgres_value)DB_##type(where);
        SALE_VALUES(X)
#undef X
    }
    return (struct postgres_value)DB_NULL;
}

void sale_queue(struct db_conn *db, const struct sale_statement *statement,
                const struct sale *sale)
{
    struct postgres_value values[SALE_STATEMENT_VALUES_MAX];
    size_t count = strlen(statement->sql.types);

    for (size_t i = 0; i < count; i++)
        values[i] = value_of(sale, statement->values[i]);
    db_queue(db, &statement->sql, values);
}

void sale_keep_read(const struct db_conn *db, size_t i, struct sale *sale)
{
    sale->stock = db_int(db, i, 0, 0);
    sale->version = db_int(db, i, 0, 1);
    sale->row_fence = db_int(db, i, 0, 2);
}

/* Run what was queued.  False: it failed. */
static bool run(struct db_conn *db, struct sale *sale)
{
    sale->status = db_run(db);
    if (sale->status != DB_OK)
        sale->answer = SALE_FAILED;
    return sale->status == DB_OK;
}

/* Run the guard's statement once.  False: it failed.  *is_taken: it took the units. */
static bool try_to_take(struct db_conn *db, struct sale *sale, bool *is_taken)
{
    const size_t answer = sale->begins ? 1 : 0;

    if (sale->begins)
        sale_queue(db, &sale_statement_begin, sale);
    sale->begins = false;
    sale_queue(db, sale->terms->stock_guard->take, sale);
    if (!run(db, sale))
        return false;
    *is_taken = db_rows(db, answer) > 0;
    if (*is_taken)
        (void)snprintf(sale->xid, sizeof(sale->xid), "%s", db_text(db, answer, 0, 0));
    return true;
}

static bool read_again(struct db_conn *db, struct sale *sale)
{
    sale_queue(db, sale->terms->stock_guard->read, sale);
    if (!run(db, sale))
        return false;
    sale_keep_read(db, 0, sale);
    if (sale->units > sale->stock && sale->stock > 0)
        sale->units = sale->stock;
    return true;
}

bool sale_take(struct db_conn *db, struct sale *sale)
{
    const struct stock_guard *guard = sale->terms->stock_guard;

    for (int try = 0; try < TRIES_MAX; try++) {
        bool is_taken = false;

        if (!try_to_take(db, sale, &is_taken))
            return false;
        if (is_taken)
            return true;
        sale->answer = SALE_SOLD_OUT;
        if (!guard->retries || !read_again(db, sale))
            return false;
        if (guard->is_stale != NULL && guard->is_stale(sale))
            sale->answer = SALE_STALE;
        if (sale->answer == SALE_STALE || sale->stock < 1)
            return false;
    }
    sale->answer = SALE_BUSY;
    return false;
}
