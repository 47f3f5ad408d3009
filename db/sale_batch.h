/* SPDX-License-Identifier: MIT */
/* sale_batch.h -- sell one unit of a voucher to each of several users, in one transaction:
 * the sequence of sale.h with arrays in place of values.
 *
 *     BEGIN, the count of each user's earlier orders, the stock guard's read
 *     the stock guard's take, once, for as many units as there are orders
 *     the orders' rows, their lines in the record of writes, COMMIT
 *
 * Each line is one round trip; with nothing to count or read the first is left out.
 *
 * The guards protect the stock and the user here as in a sale alone, and no better:
 * the count reads the snapshot of its statement, which does not see the batch itself, and a
 * guard that computes in the program computes from what was read before.  So a lock that
 * fails is still seen to fail.
 *
 * Threads     A batch belongs to one thread, as its connection does.
 */
#ifndef DB_SALE_BATCH_H
#define DB_SALE_BATCH_H

#include "db/sale.h"

enum { SALE_BATCH_MAX = 128 };

/* All are of one voucher and under the same terms, and are either all recorded or none. */
struct sale_batch {
    struct sale *sales[SALE_BATCH_MAX];
    size_t count;            /* at least 1 */
    bool is_over[SALE_BATCH_MAX]; /* out: sales[i]->answer says how it ended */
};

/* Called for each sale at each point; see sale_watch.  False gives up that sale alone. */
typedef bool sale_batch_watch(enum sale_point point, struct db_conn *db, size_t i,
                              void *arg);

/* Run the batch.  `watch` is called with `arg`; NULL: nobody watches.
 *
 * A sale that is over was SOLD, SOLD_OUT, COUNTED, GIVEN_UP or UNSURE.  One that is not over
 * sold nothing and has no answer: something failed, or refused, that may concern another
 * sale of the batch.  The caller runs it alone, so that no sale fails by its neighbours.
 * No transaction is open when the call returns. */
void sale_batch_run(struct db_conn *db, struct sale_batch *batch, sale_batch_watch *watch,
                    void *arg);

#endif /* DB_SALE_BATCH_H */
