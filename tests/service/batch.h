/* SPDX-License-Identifier: MIT */
/* batch.h -- makes orders that are sold together: the test locks the voucher's row, so that the
 * first order of a process waits in its transaction, and all later orders wait to be sold in one
 * transaction.
 *
 *     batch_begin(voucher);                        // the row is locked
 *     batch_buy_blocked(&service, voucher, 1, 1);  // user 1 waits for the row
 *     batch_buy(&service, voucher, 2, "");         // users 2 and 3 wait for user 1's order
 *     batch_buy(&service, voucher, 3, "");
 *     batch_await_waiting(&service, 2);
 *     batch_let_go();                              // the row is free; every buyer is answered
 *     batch_expect("accepted", 3);
 *
 * Each function fails the running test when it cannot do its work, so call it on the test's
 * main thread.
 */
#ifndef TESTS_SERVICE_BATCH_H
#define TESTS_SERVICE_BATCH_H

#include "tests/service/rig.h"

/* Start a service that sells in batches; its timeouts let the row be locked for as long as a slow
 * machine needs to send all orders. */
#define BATCH_START(...)                                                               \
    RIG_START("--order-path=combined", "--statement-timeout=50s", "--workers=40",      \
              "--database-wait=50s", __VA_ARGS__)

/* Forget all buyers, and lock the voucher's row. */
void batch_begin(int64_t voucher);

/* Order on a thread of its own; `request_id` may be "". */
void batch_buy(const struct rig_service *at, int64_t voucher, int64_t user,
               const char *request_id);

/* The same, and wait until `blocked` transactions wait for the row. */
void batch_buy_blocked(const struct rig_service *at, int64_t voucher, int64_t user,
                       int blocked);

/* Wait until `count` orders wait for the leader of a batch. */
void batch_await_waiting(const struct rig_service *at, int count);

/* Wait for every buyer's answer while the row is locked. */
void batch_await_answers(void);

/* Free the row, and wait for every buyer's answer. */
void batch_let_go(void);

/* Let user 1 wait in a transaction and users 2 to `last` wait to be sold; then unlock the row. */
void batch_sell(const struct rig_service *at, int64_t voucher, int last);

/* The number of buyers that got this outcome; and a check that the number is `count`. */
int batch_count(const char *outcome);
void batch_expect(const char *outcome, int count);

/* Check that the number in every answer is that of the buyer's own order. */
void batch_expect_own_orders(int64_t voucher);

#endif /* TESTS_SERVICE_BATCH_H */
