/* SPDX-License-Identifier: MIT */
/* row_lock.c -- pessimistic: lock the voucher's row in the order's own transaction. */
#include "db/guard.h"

static const struct db_statement READ = {
    "row_lock_read",
    "SELECT stock, version FROM tb_seckill_voucher WHERE voucher_id = $1 FOR UPDATE",
    "i",
};

static const struct db_statement WRITE = {
    "row_lock_write",
    "UPDATE tb_seckill_voucher SET stock = $2 WHERE voucher_id = $1"
    " RETURNING pg_current_xact_id()",
    "ii",
};

static enum guard_answer take(struct db_conn *db, struct guard_sale *sale)
{
    return guard_take_row(
        db, &WRITE, DB_VALUES(DB_INT(sale->voucher_id), DB_INT(sale->stock - 1)), sale);
}

const struct stock_guard guard_row_lock = {
    .name = "row-lock",
    .does = "pessimistic: SELECT ... FOR UPDATE, then write",
    .read = &READ,
    .take = take,
};
