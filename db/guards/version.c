/* SPDX-License-Identifier: MIT */
/* version.c -- optimistic: write only if the row has not changed since the read,
 * otherwise read again.
 *
 * The transaction is READ COMMITTED, so reading again sees what the winner committed.
 */
#include "db/guard.h"

static const struct sale_statement READ = {
    {"version_read",
     "SELECT stock, version FROM tb_seckill_voucher WHERE voucher_id = $1", "i"},
    {SALE_VALUE_VOUCHER},
};

static const struct sale_statement COMPARE_AND_SET = {
    {"version_compare_and_set",
     "UPDATE tb_seckill_voucher SET stock = $3, version = version + 1"
     " WHERE voucher_id = $1 AND version = $2 RETURNING pg_current_xact_id()",
     "iii"},
    {SALE_VALUE_VOUCHER, SALE_VALUE_VERSION, SALE_VALUE_STOCK_LEFT},
};

const struct stock_guard guard_version = {
    .name = "version",
    .does = "optimistic: compare and set a version; try again if another was faster",
    .read = &READ,
    .take = &COMPARE_AND_SET,
    .retries = true,
};
