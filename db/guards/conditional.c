/* SPDX-License-Identifier: MIT */
/* conditional.c -- count down where there is something left: never below zero. */
#include "db/guard.h"

static const struct db_statement COUNT_DOWN = {
    "conditional_count_down",
    "UPDATE tb_seckill_voucher SET stock = stock - 1"
    " WHERE voucher_id = $1 AND stock > 0 RETURNING pg_current_xact_id()",
    "i",
};

static enum guard_answer take(struct db_conn *db, struct guard_sale *sale)
{
    return guard_take_row(db, &COUNT_DOWN, DB_VALUES(DB_INT(sale->voucher_id)), sale);
}

const struct stock_guard guard_conditional = {
    .name = "conditional",
    .does = "UPDATE ... WHERE stock > 0",
    .read = NULL,
    .take = take,
};
