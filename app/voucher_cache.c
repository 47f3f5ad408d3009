/* SPDX-License-Identifier: MIT */
/* voucher_cache.c -- when each voucher is on sale, remembered for a second. */
#include "app/voucher_cache.h"

#include "base/duration.h"

enum db_status voucher_cache_get(struct voucher_cache *cache, struct db_conn *db,
                                 int64_t voucher_id, struct voucher_window *window,
                                 bool *found)
{
    size_t i = (size_t)((uint64_t)voucher_id % VOUCHER_CACHE_SLOTS);
    int64_t now_ns = monotonic_ns();
    enum db_status st;

    *found = true;
    if (cache->slots[i].read_ns != 0 &&
        cache->slots[i].window.voucher_id == voucher_id &&
        now_ns - cache->slots[i].read_ns < (int64_t)VOUCHER_CACHE_MS * 1000000) {
        *window = cache->slots[i].window;
        return DB_OK;
    }
    st = voucher_find_window(db, voucher_id, window, found);
    if (st == DB_OK && *found) {
        cache->slots[i].window = *window;
        cache->slots[i].read_ns = now_ns;
    }
    return st;
}
