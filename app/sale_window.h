/* SPDX-License-Identifier: MIT */
/* sale_window.h -- is a voucher on sale now? */
#ifndef APP_SALE_WINDOW_H
#define APP_SALE_WINDOW_H

#include "app/service.h"

/* Ask, by this machine's clock and by a window that may be as old as voucher_cache.h says.
 * The worker has no connection to PostgreSQL, and has none afterwards.
 *   ACCEPTED   it is
 *   NOT_STARTED, ENDED, UNKNOWN_VOUCHER
 *   otherwise  as worker_take_db() and worker_db_failed() */
enum outcome sale_window_check(struct worker *w, int64_t voucher_id);

#endif /* APP_SALE_WINDOW_H */
