/* SPDX-License-Identifier: MIT */
/* query_lock.h -- a query of a voucher's stock, beside other queries and never beside an
 * order for it.
 *
 * Only where that means something: the lock knows readers (--lock=rwlock) and is that
 * of the voucher (--lock-scope=voucher).  Orders under the lock of a user exclude
 * nobody else's orders for the voucher, so there is no lock that a query could share;
 * and locks without readers would make queries wait for each other.  Then queries take
 * no lock.
 */
#ifndef APP_QUERY_LOCK_H
#define APP_QUERY_LOCK_H

#include "app/service.h"

struct query_lock {
    bool is_locked;
    dlock_lease lease;
};

/* Begin to read for the request of `trace_id` (NULL: it brought none), waiting for an order as
 * long as --lock-wait says.
 *   ACCEPTED      call query_lock_give() afterwards
 *   LOCK_BUSY     an order is under way
 *   UNAVAILABLE, INTERNAL   as order_place() */
enum outcome query_lock_take(struct worker *w, int64_t voucher_id, const char *trace_id,
                             struct query_lock *r);
void query_lock_give(struct worker *w, struct query_lock *r);

#endif /* APP_QUERY_LOCK_H */
