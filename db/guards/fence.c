/* SPDX-License-Identifier: MIT */
/* fence.c -- refuse who holds the lock no more: the row remembers the highest fence that
 * it was written under, and takes no write under a lower one.
 *
 * That comparison alone is not enough for somebody who has read before.  A late holder may
 * write between the read and the write of the present one: its fence is lower than the
 * present holder's, who has not written yet, but not lower than the row's.  So a write
 * also wants the version that the read saw, and reads again if that has moved under a
 * fence that is not beyond its own.  An equal fence is the same holder, who may write as
 * often as it likes.
 *
 * Does not survive fences that cannot be compared: of locks of different names or
 * variants, or of a store that lost its counter (the variants say which do).
 */
#include "db/guard.h"

enum { TRIES_MAX = 64 }; /* each lost try means that somebody else sold one */

static const struct db_statement READ = {
    "fence_read",
    "SELECT stock, version, fence FROM tb_seckill_voucher WHERE voucher_id = $1",
    "i",
};

static const struct db_statement WRITE = {
    "fence_write",
    "UPDATE tb_seckill_voucher SET stock = $4, version = version + 1, fence = $2"
    " WHERE voucher_id = $1 AND fence <= $2 AND version = $3"
    " RETURNING pg_current_xact_id()",
    "iiii",
};

static enum guard_answer take(struct db_conn *db, struct guard_sale *sale)
{
    for (int try = 0; try < TRIES_MAX; try++) {
        enum guard_answer answer =
            guard_take_row(db, &WRITE,
                           DB_VALUES(DB_INT(sale->voucher_id), DB_INT(sale->fence),
                                     DB_INT(sale->version), DB_INT(sale->stock - 1)),
                           sale);

        if (answer != GUARD_SOLD_OUT)
            return answer;
        sale->status = db_run_one(db, &READ, DB_VALUES(DB_INT(sale->voucher_id)));
        if (sale->status != DB_OK)
            return GUARD_FAILED;
        sale->stock = db_int(db, 0, 0, 0);
        sale->version = db_int(db, 0, 0, 1);
        if (db_int(db, 0, 0, 2) > sale->fence)
            return GUARD_STALE;
        if (sale->stock < 1)
            return GUARD_SOLD_OUT;
    }
    return GUARD_BUSY;
}

const struct stock_guard guard_fence = {
    .name = "fence",
    .does = "read the stock, write unless a later holder of the lock has written",
    .needs_fence = true,
    .read = &READ,
    .take = take,
};
