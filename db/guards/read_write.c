/* SPDX-License-Identifier: MIT */
/* read_write.c -- read the stock, compute in the program, write the result.
 *
 * The lost update of the textbooks: two transactions that read the same stock write the
 * same new stock, so two orders take one unit.  It is correct only under a lock that
 * really excludes.
 */
#include "db/guard.h"

static const struct sale_statement READ = {
    {"read_write_read",
     "SELECT stock, version FROM tb_seckill_voucher WHERE voucher_id = $1", "i"},
    {SALE_VALUE_VOUCHER},
};

static const struct sale_statement WRITE = {
    {"read_write_write",
     "UPDATE tb_seckill_voucher SET stock = $2, version = version + 1"
     " WHERE voucher_id = $1 RETURNING pg_current_xact_id()",
     "ii"},
    {SALE_VALUE_VOUCHER, SALE_VALUE_STOCK_LEFT},
};

const struct stock_guard guard_read_write = {
    .name = "read-write",
    .does = "read the stock, then write the stock computed from the read",
    .read = &READ,
    .take = &WRITE,
};
