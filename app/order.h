/* SPDX-License-Identifier: MIT */
/* order.h -- place an order: window, admission, and then the order path. */
#ifndef APP_ORDER_H
#define APP_ORDER_H

#include "app/order_request.h"
#include "app/service.h"

/* Sell one unit of a voucher to a user.
 *   ACCEPTED         placed->order_id is the committed order; for a request that was
 *                    accepted before, the same one again
 *   QUEUED           placed->order_id is the number that the order will have; it has no row
 *                    yet, and the request's id tells what becomes of it
 *   QUEUE_FULL       as many orders are queued as may be; nothing was queued
 *   SOLD_OUT, DUPLICATE, ADMISSION_FULL, LOCK_BUSY, NOT_STARTED, ENDED, UNKNOWN_VOUCHER
 *                    refused; nothing was written
 *   STALE            the lock's fence was out of date: a later holder has written.
 *                    Nothing was written; it may come again
 *   CONFLICT         the request's id belongs to another order
 *   DATABASE_BUSY    no connection to PostgreSQL became free in time; this attempt sold
 *                    nothing
 *   UNAVAILABLE      a store did not answer; this attempt sold nothing and will not.
 *                    An earlier one of the same id may have: it could not be looked up
 *   UNKNOWN          the COMMIT was not answered and nobody could be asked in time; the
 *                    same request id tells later.  The lock is left to its lease, and
 *                    by its end PostgreSQL has ended a transaction whose client is gone
 *                    (if --idle-transaction-timeout is at most two thirds of it).  What
 *                    remains is a COMMIT on its way for longer than that: it may sell a
 *                    second one to a user who asked again without the id, and only the
 *                    duplicate guard `unique` stops it.
 *                    With --order-path=stream also: a question to Redis was not answered,
 *                    and may still be executed, whatever a later one was told
 *   INTERNAL         the log says what */
enum outcome order_place(struct worker *w, const struct order_request *request,
                         struct order_placed *placed);

#endif /* APP_ORDER_H */
