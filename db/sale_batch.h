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
 * The guards protect exactly as in a sale of one unit, and not more.  The count reads
 * the snapshot of its statement, which does not include the batch.  A guard that
 * computes the stock in the program uses the earlier read.  So the failure of a lock
 * still becomes visible in a batch.
 *
 * Threads     A batch belongs to one thread, as its connection does.
 */
#ifndef DB_SALE_BATCH_H
#define DB_SALE_BATCH_H

#include "db/sale.h"

enum { SALE_BATCH_MAX = 128, SALE_BATCH_WHY_MAX = 256 };

/* All sales are of one voucher and under the same terms.  Either all of them are
 * written into the record of writes or none. */
struct sale_batch {
    struct sale *sales[SALE_BATCH_MAX];
    size_t count;            /* at least 1 */
    bool is_over[SALE_BATCH_MAX]; /* out: sales[i] has ended, and sales[i]->answer is
                                   * valid */
    enum db_status status;   /* out: of the statement that failed; OK: none did, or only a
                              * unique index refused */
    char why[SALE_BATCH_WHY_MAX]; /* out: unless OK, what db_error() said */
};

/* Called for each sale at each point; see sale_watch.  False gives up this sale
 * alone. */
typedef bool sale_batch_watch(enum sale_point point, struct db_conn *db, size_t i,
                              void *arg);

/* Run the batch.  `watch` is called with `arg`; NULL: no function.
 *
 * A sale that has ended is SOLD, SOLD_OUT, COUNTED, GIVEN_UP or UNSURE. A sale that has
 * not ended sold nothing and has no answer, because the cause of a failure or refusal
 * may be another sale of the batch.  The caller runs such a sale alone, so that no sale
 * fails because of another.  No transaction is open when the call returns. */
void sale_batch_run(struct db_conn *db, struct sale_batch *batch, sale_batch_watch *watch,
                    void *arg);

/* sale_script() for a batch: `units` is its size, and user, request, fence, admitted_us and
 * drawn_id are arrays in PostgreSQL's text form. */
bool sale_batch_script(const struct sale_terms *terms, char *out, size_t size);

#endif /* DB_SALE_BATCH_H */
