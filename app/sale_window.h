/* SPDX-License-Identifier: MIT */
/* sale_window.h -- is a voucher on sale now? */
#ifndef APP_SALE_WINDOW_H
#define APP_SALE_WINDOW_H

#include "app/service.h"

/* Ask, by the database's clock and by a window that may be as old as voucher_cache.h says.
 * The worker has no connection to PostgreSQL, and has none afterwards.
 *   ACCEPTED   it is, at *admitted_us of the database's clock, and ends at *end_us of it
 *   NOT_STARTED, ENDED, UNKNOWN_VOUCHER
 *   otherwise  as worker_take_db() and worker_db_failed() */
enum outcome sale_window_check(struct worker *w, int64_t voucher_id,
                               int64_t *admitted_us, int64_t *end_us);

#endif /* APP_SALE_WINDOW_H */
