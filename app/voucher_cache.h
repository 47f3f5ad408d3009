/* SPDX-License-Identifier: MIT */
/* voucher_cache.h -- when each voucher is on sale, remembered for a second.
 *
 * Every thread has its own, so there is nothing to lock.  A voucher that does not exist
 * is not remembered: it may be created the next moment.
 */
#ifndef APP_VOUCHER_CACHE_H
#define APP_VOUCHER_CACHE_H

#include "db/voucher.h"

enum {
    VOUCHER_CACHE_SLOTS = 64,
    VOUCHER_CACHE_MS = 1000,
};

struct voucher_cache {
    struct {
        struct voucher_window window;
        int64_t read_ns; /* 0: empty */
    } slots[VOUCHER_CACHE_SLOTS];
};

/* The window of a voucher, cached or fresh.  As voucher_find_window(). */
enum db_status voucher_cache_get(struct voucher_cache *cache, struct db_conn *db,
                                 int64_t voucher_id, struct voucher_window *window,
                                 bool *found);

#endif /* APP_VOUCHER_CACHE_H */
