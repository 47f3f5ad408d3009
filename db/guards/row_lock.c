/* SPDX-License-Identifier: MIT */
/* row_lock.c -- pessimistic: lock the voucher's row in the order's own transaction. */
#include "db/guard.h"

static const struct sale_statement READ = {
    {"row_lock_read",
     "SELECT stock, version FROM tb_seckill_voucher WHERE voucher_id = $1 FOR UPDATE",
     "i"},
    {SALE_VALUE_VOUCHER},
};

static const struct sale_statement WRITE = {
    {"row_lock_write",
     "UPDATE tb_seckill_voucher SET stock = $2, version = version + 1"
     " WHERE voucher_id = $1 RETURNING pg_current_xact_id()",
     "ii"},
    {SALE_VALUE_VOUCHER, SALE_VALUE_STOCK_LEFT},
};

const struct stock_guard guard_row_lock = {
    .name = "row-lock",
    .does = "pessimistic: SELECT ... FOR UPDATE, then write",
    .read = &READ,
    .take = &WRITE,
};
