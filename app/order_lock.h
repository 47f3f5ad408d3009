/* SPDX-License-Identifier: MIT */
/* order_lock.h -- the lock of one order, with its metrics and log lines.
 *
 * The service deliberately does not check the lease before the commit: the laboratory
 * can show what a lock protects only if no other check hides its failure.
 */
#ifndef APP_ORDER_LOCK_H
#define APP_ORDER_LOCK_H

#include <inttypes.h>
#include <stdio.h>

#include "app/order_request.h"
#include "app/service.h"

enum { LOCK_NAME_SIZE = 64 };

static inline void lock_name_of_user(int64_t user_id, char out[LOCK_NAME_SIZE])
{
    (void)snprintf(out, LOCK_NAME_SIZE, "lock:order:%" PRId64, user_id);
}

static inline void lock_name_of_voucher(int64_t voucher_id, char out[LOCK_NAME_SIZE])
{
    (void)snprintf(out, LOCK_NAME_SIZE, "lock:voucher:%" PRId64, voucher_id);
}

/* A zeroed struct is a lock that is not held. */
struct order_lock {
    char name[LOCK_NAME_SIZE];
    dlock_lease lease;
    bool is_held;
    int64_t held_ns; /* when it was granted */
};

/* Take the lock that --lock-scope names, waiting for it as long as --lock-wait says.
 *   ACCEPTED               the lock is held, and --record has the trace of the request
 *   LOCK_BUSY              another order has the lock
 *   UNAVAILABLE, INTERNAL  the log says why */
enum outcome order_lock_take(struct worker *w, const struct order_request *request,
                             struct order_lock *lock);

/* The same, waiting at most `wait_ms`; 0: one attempt. */
enum outcome order_lock_take_within(struct worker *w, const struct order_request *request,
                                    struct order_lock *lock, int64_t wait_ms);

/* Record that the lock of `lease` is held for this trace.  If `trace_id` is NULL, or
 * without --record, the call does nothing.  Any thread. */
void order_lock_trace(const struct service *service, const dlock_lease *lease,
                      const char *trace_id);

/* Release the lock; does nothing if it is not held. */
void order_lock_give(struct worker *w, struct order_lock *lock);

/* Abandon the lock to its lease; does nothing if it is not held.  For an order whose
 * transaction may still be open: no other order may get the lock before the lease ends,
 * and by then PostgreSQL has ended a transaction whose client is gone, if the settings
 * are as UNKNOWN in order.h says. */
void order_lock_abandon(struct worker *w, struct order_lock *lock);

#endif /* APP_ORDER_LOCK_H */
