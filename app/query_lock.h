/* SPDX-License-Identifier: MIT */
/* query_lock.h -- a reader's lock for a query of a voucher's stock, which excludes
 * orders for the voucher.
 *
 * A query takes the lock only with --lock=rwlock and --lock-scope=voucher.  With the
 * scope `user`, orders of different users do not exclude each other, so no lock
 * protects the stock of a voucher.  With a lock without readers, queries would wait for
 * each other.  In both cases queries take no lock.
 */
#ifndef APP_QUERY_LOCK_H
#define APP_QUERY_LOCK_H

#include "app/service.h"

struct query_lock {
    bool is_locked;
    dlock_lease lease;
};

/* Take the lock as a reader, for the request of `trace_id` (NULL: no trace), waiting at
 * most --lock-wait.
 *   ACCEPTED      the caller calls query_lock_give() afterwards
 *   LOCK_BUSY     an order is under way
 *   UNAVAILABLE, INTERNAL   as order_place() */
enum outcome query_lock_take(struct worker *w, int64_t voucher_id, const char *trace_id,
                             struct query_lock *r);

/* Release the lock; does nothing if no lock was taken. */
void query_lock_give(struct worker *w, struct query_lock *r);

#endif /* APP_QUERY_LOCK_H */
