/* SPDX-License-Identifier: MIT */
/* order_lock.h -- the lock of one order: counted, timed and told in the log.
 *
 * The lease is on purpose not looked at before the commit: what a lock is worth shows only
 * if nothing else saves the day.
 */
#ifndef APP_ORDER_LOCK_H
#define APP_ORDER_LOCK_H

#include "app/lock_name.h"
#include "app/order_request.h"
#include "app/service.h"

/* A zeroed struct is a lock that is not held. */
struct order_lock {
    char name[LOCK_NAME_SIZE];
    dlock_lease lease;
    bool is_held;
    int64_t held_ns; /* since when */
};

/* Take the lock that --lock-scope names, waiting for it as long as --lock-wait says.
 *   ACCEPTED               it is held, and --record has the trace of the request with it
 *   LOCK_BUSY              another one has it
 *   UNAVAILABLE, INTERNAL  the log says why */
enum outcome order_lock_take(struct worker *w, const struct order_request *request,
                             struct order_lock *lock);

/* The same, waiting for at most `wait_ms`; 0: not at all. */
enum outcome order_lock_take_within(struct worker *w, const struct order_request *request,
                                    struct order_lock *lock, int64_t wait_ms);

/* Give it back; nothing happens if it is not held. */
void order_lock_give(struct worker *w, struct order_lock *lock);

/* Leave it to its lease; nothing happens if it is not held.  For an order whose transaction
 * may still be open: nobody may have the lock before the lease is over, by when PostgreSQL
 * has ended a transaction whose client is gone. */
void order_lock_abandon(struct worker *w, struct order_lock *lock);

#endif /* APP_ORDER_LOCK_H */
