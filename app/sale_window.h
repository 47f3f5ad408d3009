/* SPDX-License-Identifier: MIT */
/* sale_window.h -- is a voucher on sale now? */
#ifndef APP_SALE_WINDOW_H
#define APP_SALE_WINDOW_H

#include "app/service.h"

/* Compare the database's clock with the window of the voucher, and look whether the
 * voucher is on offer.  Both may be as old as voucher_cache.h allows.  The worker has no
 * connection to PostgreSQL, before and after the call.
 *   ACCEPTED   the sale goes on at *admitted_us, and ends at *end_us, both by the
 *              database's clock
 *   NOT_STARTED, ENDED, UNKNOWN_VOUCHER; ENDED also if the voucher is not on offer
 *   otherwise  as worker_take_db() and worker_db_failed() */
enum outcome sale_window_check(struct worker *w, int64_t voucher_id,
                               int64_t *admitted_us, int64_t *end_us);

/* The voucher_read of a worker for the cache of the service. */
enum outcome sale_window_read(void *worker, int64_t voucher_id, struct voucher_window *window);

#endif /* APP_SALE_WINDOW_H */
