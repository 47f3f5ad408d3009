/* SPDX-License-Identifier: MIT */
/* decrement.c -- read the stock, then let the database count down.
 *
 * No update is lost, but two transactions that both read a stock of one both count
 * down, and the stock becomes negative.
 */
#include "db/guard.h"

static const struct sale_statement READ = {
    {"decrement_read",
     "SELECT stock, version FROM tb_seckill_voucher WHERE voucher_id = $1", "i"},
    {SALE_VALUE_VOUCHER},
};

static const struct sale_statement COUNT_DOWN = {
    {"decrement_count_down",
     "UPDATE tb_seckill_voucher SET stock = stock - $2, version = version + 1"
     " WHERE voucher_id = $1 RETURNING pg_current_xact_id()",
     "ii"},
    {SALE_VALUE_VOUCHER, SALE_VALUE_UNITS},
};

const struct stock_guard guard_decrement = {
    .name = "decrement",
    .does = "read the stock, then subtract the units without another check",
    .read = &READ,
    .take = &COUNT_DOWN,
};
