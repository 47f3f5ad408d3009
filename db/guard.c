/* SPDX-License-Identifier: MIT */
/* guard.c -- the register of stock guards, and what they share. */
#include "db/guard.h"

#include <stdio.h>
#include <string.h>

#define GUARD(id) extern const struct stock_guard guard_##id;
#include "db/guards.def"
#undef GUARD

static const struct stock_guard *const GUARDS[] = {
#define GUARD(id) &guard_##id,
#include "db/guards.def"
#undef GUARD
};

enum { GUARD_COUNT = sizeof(GUARDS) / sizeof(GUARDS[0]) };

const struct db_statement guard_begin = {"order_begin", "BEGIN", ""};

const struct stock_guard *guard_at(size_t i)
{
    return i < GUARD_COUNT ? GUARDS[i] : NULL;
}

const struct stock_guard *guard_find(const char *name)
{
    for (size_t i = 0; i < GUARD_COUNT; i++)
        if (strcmp(GUARDS[i]->name, name) == 0)
            return GUARDS[i];
    return NULL;
}

const char *guard_name_at(size_t i)
{
    return i < GUARD_COUNT ? GUARDS[i]->name : NULL;
}

enum guard_answer guard_take_row(struct db_conn *db, const struct db_statement *take,
                                 const struct db_value *values, struct guard_sale *sale)
{
    const size_t answer = sale->begins ? 1 : 0;

    if (sale->begins)
        db_queue(db, &guard_begin, NULL);
    sale->begins = false;
    db_queue(db, take, values);
    sale->status = db_run(db);
    if (sale->status != DB_OK)
        return GUARD_FAILED;
    if (db_rows(db, answer) == 0)
        return GUARD_SOLD_OUT;
    (void)snprintf(sale->xid, sizeof(sale->xid), "%s", db_text(db, answer, 0, 0));
    return GUARD_TAKEN;
}
