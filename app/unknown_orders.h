/* SPDX-License-Identifier: MIT */
/* unknown_orders.h -- remembers the requests that this process answered with `unknown`.
 *
 * The lock of such an order is held until its lease ends.  A repetition of the request
 * finds the lock busy, although the order may exist.  With this memory, the service looks
 * for the order of such a repetition, and not for the order of every request that finds
 * its lock busy, which would cost each of them a round trip to PostgreSQL.
 *
 * The memory has a bounded number of places, and a request takes the place of an earlier
 * one with the same remainder of its hash.  The displaced request gets `lock-busy` until
 * the lease ends.  So does a repetition at another process.  Two requests with the same
 * hash cost one question to PostgreSQL that finds no order.
 *
 * Threads     Any.
 */
#ifndef APP_UNKNOWN_ORDERS_H
#define APP_UNKNOWN_ORDERS_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "app/order_request.h"

enum { UNKNOWN_ORDERS_MAX = 1024 };

/* A zeroed struct is empty. */
struct unknown_orders {
    _Atomic uint64_t hashes[UNKNOWN_ORDERS_MAX]; /* 0: the place is free */
};

/* Remember that the request was answered with `unknown`. */
void unknown_orders_note(struct unknown_orders *orders, const struct order_request *request);

/* May the request have been answered with `unknown`?  The request is remembered further. */
bool unknown_orders_has(const struct unknown_orders *orders,
                        const struct order_request *request);

#endif /* APP_UNKNOWN_ORDERS_H */
