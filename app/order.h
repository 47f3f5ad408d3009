/* SPDX-License-Identifier: MIT */
/* order.h -- place an order: window, admission, and then the order path. */
#ifndef APP_ORDER_H
#define APP_ORDER_H

#include "app/order_request.h"
#include "app/service.h"

/* Sell one unit of a voucher to a user.
 *   ACCEPTED         placed->order_id is the committed order; for a request that was
 *                    accepted before, the same order again
 *   QUEUED           placed->order_id is the number that the order will have; it has no row
 *                    yet, and api_request_find (handlers.h) answers its state
 *   QUEUE_FULL       the limit of queued orders is reached; nothing was queued
 *   SOLD_OUT, DUPLICATE, ADMISSION_FULL, LOCK_BUSY, NOT_STARTED, ENDED, UNKNOWN_VOUCHER
 *                    refused; nothing was written
 *   STALE            the lock's fence was out of date: a later holder has written.
 *                    Nothing was written; the client may try again
 *   CONFLICT         the request's id belongs to another order
 *   DATABASE_BUSY    no connection to PostgreSQL became free in time, or the orders before
 *                    this one were not sold in time, or too many orders wait or use the
 *                    database; this attempt sold nothing, and w->busy_why is the reason
 *   UNAVAILABLE      a store did not answer; this attempt sold nothing and will not.
 *                    An earlier attempt of the same id may have sold: it could not be
 *                    looked up
 *   UNKNOWN          the COMMIT was not answered, and its outcome could not be found
 *                    out in time; a repetition with the same id gets it later, at this
 *                    process at once, at another after the lease.  The lock is abandoned
 *                    to its lease.  By the end of the lease PostgreSQL has
 *                    ended a transaction whose client is gone (if
 *                    --idle-transaction-timeout is at most two thirds of the lease).
 *                    One case is left: a COMMIT that is on its way for longer than
 *                    that.  If the user asks again without the id, such a COMMIT may
 *                    sell a second unit, and only the duplicate guard `unique` stops
 *                    it.  With --order-path=stream also: a request to Redis was not
 *                    answered and may still be executed, whatever the answer to a later
 *                    one was
 *   INTERNAL         the service itself failed; the log says how */
enum outcome order_place(struct worker *w, const struct order_request *request,
                         struct order_placed *placed);

#endif /* APP_ORDER_H */
