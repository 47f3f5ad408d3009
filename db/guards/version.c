/* SPDX-License-Identifier: MIT */
/* version.c -- optimistic: write only if nobody wrote since the read, else read again.
 *
 * The transaction is READ COMMITTED, so reading again sees what the winner committed.
 */
#include "db/guard.h"

enum { TRIES_MAX = 64 }; /* each lost try means that somebody else sold one */

static const struct db_statement READ = {
    "version_read",
    "SELECT stock, version FROM tb_seckill_voucher WHERE voucher_id = $1",
    "i",
};

static const struct db_statement COMPARE_AND_SET = {
    "version_compare_and_set",
    "UPDATE tb_seckill_voucher SET stock = $3, version = version + 1"
    " WHERE voucher_id = $1 AND version = $2 RETURNING pg_current_xact_id()",
    "iii",
};

static enum guard_answer take(struct db_conn *db, struct guard_sale *sale)
{
    for (int try = 0; try < TRIES_MAX; try++) {
        enum guard_answer answer =
            guard_take_row(db, &COMPARE_AND_SET,
                           DB_VALUES(DB_INT(sale->voucher_id), DB_INT(sale->version),
                                     DB_INT(sale->stock - 1)),
                           sale);

        if (answer != GUARD_SOLD_OUT)
            return answer;
        sale->status = db_run_one(db, &READ, DB_VALUES(DB_INT(sale->voucher_id)));
        if (sale->status != DB_OK)
            return GUARD_FAILED;
        sale->stock = db_int(db, 0, 0, 0);
        sale->version = db_int(db, 0, 0, 1);
        if (sale->stock < 1)
            return GUARD_SOLD_OUT;
    }
    return GUARD_BUSY;
}

const struct stock_guard guard_version = {
    .name = "version",
    .does = "optimistic: compare and set a version, again if another was faster",
    .read = &READ,
    .take = take,
};
