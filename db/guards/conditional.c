/* SPDX-License-Identifier: MIT */
/* conditional.c -- count down only if units are left, so the stock is never below
 * zero. */
#include "db/guard.h"

static const struct sale_statement COUNT_DOWN = {
    {"conditional_count_down",
     "UPDATE tb_seckill_voucher SET stock = stock - $2, version = version + 1"
     " WHERE voucher_id = $1 AND stock >= $2 RETURNING pg_current_xact_id()",
     "ii"},
    {SALE_VALUE_VOUCHER, SALE_VALUE_UNITS},
};

const struct stock_guard guard_conditional = {
    .name = "conditional",
    .does = "UPDATE ... WHERE stock >= the units that are taken",
    .take = &COUNT_DOWN,
};
