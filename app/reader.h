/* SPDX-License-Identifier: MIT */
/* reader.h -- a query of a voucher's stock, beside other queries and never beside an
 * order for it.
 *
 * Only where that means something: the lock knows readers (--lock=rwlock) and is that
 * of the voucher (--lock-scope=voucher).  Orders under the lock of a user exclude
 * nobody else's orders for the voucher, so there is no lock that a query could share;
 * and locks without readers would make queries wait for each other.  Then queries take
 * no lock.
 */
#ifndef APP_READER_H
#define APP_READER_H

#include "app/service.h"

struct reader {
    bool is_locked;
    dlock_lease lease;
};

/* Begin to read, waiting for an order as long as --lock-wait says.
 *   ACCEPTED      call reader_end() afterwards
 *   LOCK_BUSY     an order is under way
 *   UNAVAILABLE, INTERNAL   as order_place() */
enum outcome reader_begin(struct worker *w, int64_t voucher_id, struct reader *r);
void reader_end(struct worker *w, struct reader *r);

#endif /* APP_READER_H */
