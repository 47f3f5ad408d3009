/* SPDX-License-Identifier: MIT */
/* read_write.c -- read the stock, compute in the program, write the result.
 *
 * The lost update of the textbooks: two who read the same stock write the same stock,
 * and two orders cost one unit.  It is right only under a lock that really excludes.
 */
#include "db/guard.h"

static const struct db_statement READ = {
    "read_write_read",
    "SELECT stock, version FROM tb_seckill_voucher WHERE voucher_id = $1",
    "i",
};

static const struct db_statement WRITE = {
    "read_write_write",
    "UPDATE tb_seckill_voucher SET stock = $2 WHERE voucher_id = $1"
    " RETURNING pg_current_xact_id()",
    "ii",
};

static enum guard_answer take(struct db_conn *db, struct guard_sale *sale)
{
    return guard_take_row(
        db, &WRITE, DB_VALUES(DB_INT(sale->voucher_id), DB_INT(sale->stock - 1)), sale);
}

const struct stock_guard guard_read_write = {
    .name = "read-write",
    .does = "read the stock, then write the value computed from it",
    .read = &READ,
    .take = take,
};
