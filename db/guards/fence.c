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

static const struct sale_statement READ = {
    {"fence_read",
     "SELECT stock, version, fence FROM tb_seckill_voucher WHERE voucher_id = $1", "i"},
    {SALE_VALUE_VOUCHER},
};

static const struct sale_statement WRITE = {
    {"fence_write",
     "UPDATE tb_seckill_voucher SET stock = $4, version = version + 1, fence = $2"
     " WHERE voucher_id = $1 AND fence <= $2 AND version = $3"
     " RETURNING pg_current_xact_id()",
     "iiii"},
    {SALE_VALUE_VOUCHER, SALE_VALUE_FENCE, SALE_VALUE_VERSION, SALE_VALUE_STOCK_LEFT},
};

static bool is_stale(const struct sale *sale)
{
    return sale->row_fence > sale->fence;
}

const struct stock_guard guard_fence = {
    .name = "fence",
    .does = "read the stock, write unless a later holder of the lock has written",
    .needs_fence = true,
    .read = &READ,
    .take = &WRITE,
    .retries = true,
    .is_stale = is_stale,
};
