/* SPDX-License-Identifier: MIT */
/* order_transaction.h -- orders whose clients wait for the COMMIT: struct order_path.sell of the
 * paths `each` and `combined`.
 *
 * Threads     The worker of the order.
 */
#ifndef APP_ORDER_TRANSACTION_H
#define APP_ORDER_TRANSACTION_H

#include "app/order_path.h"

/* Sell the order in a transaction of its own, under its own lock. */
enum outcome order_transaction_alone(struct order_attempt *order);

/* Sell the order together with those of its voucher that wait in this process. */
enum outcome order_transaction_shared(struct order_attempt *order);

#endif /* APP_ORDER_TRANSACTION_H */
