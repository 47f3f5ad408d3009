/* SPDX-License-Identifier: MIT */
/* fence.c -- refuse late holders: the row has the highest fence under which it was
 * written, and no write with a lower fence is accepted.
 *
 * That comparison alone is not enough if the present holder has read the row before.  A
 * late holder may write between the present holder's read and write: its fence is lower
 * than the present holder's, which has not written yet, but not lower than the row's.
 * So a write also requires the version that was read.  If the version has changed and
 * the row's fence is not above the writer's own, the guard reads again.  An equal fence
 * belongs to the same holder, which may write repeatedly.
 *
 * The guard does not work with fences that cannot be compared: those of locks with
 * different names or variants, or of a store that has lost its counter (the heads of
 * the variants name such stores).
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
