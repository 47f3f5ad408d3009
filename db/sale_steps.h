/* SPDX-License-Identifier: MIT */
/* sale_steps.h -- the steps that the sale of one unit (sale.c) and of a batch (sale_batch.c)
 * share.  Only for db/.
 *
 * Threads     A sale belongs to one thread, as its connection does.
 */
#ifndef DB_SALE_STEPS_H
#define DB_SALE_STEPS_H

#include "db/guard.h"

/* The duplicate guard of an order's row.  The unique index has only orders under `unique`, so
 * here such an order is refused if the user has one under another guard.  All earlier orders
 * are visible, because the stock guard's take has locked the voucher's row. */
#define SALE_DUPLICATE_GUARD(guard, voucher, user)                                     \
    "CASE WHEN " guard " = 'unique' AND (SELECT true FROM tb_voucher_order AS earlier" \
    " WHERE earlier.voucher_id = " voucher " AND earlier.user_id = " user              \
    " AND earlier.duplicate_guard <> 'unique' LIMIT 1)"                                \
    " THEN refuse_second_order() ELSE " guard " END"

extern const struct sale_statement sale_statement_begin, sale_statement_commit,
    sale_statement_rollback;

/* Add a statement to the connection's next run, with the sale's values. */
void sale_queue(struct db_conn *db, const struct sale_statement *statement,
                const struct sale *sale);

/* Copy the answer of the guard's read, the `i`th statement of the last run, into the
 * sale. */
void sale_keep_read(const struct db_conn *db, size_t i, struct sale *sale);

/* Run the guard's take for sale->units, after BEGIN if sale->begins.  A guard that
 * retries reads again if another sale was faster.  Fewer units may then be left, and
 * sale->units is the number that was taken.
 *   true   the units are taken in the open transaction, whose number is in sale->xid
 *   false  sale->answer is SOLD_OUT, STALE, BUSY, or FAILED with sale->status; the
 *          transaction may be open */
bool sale_take(struct db_conn *db, struct sale *sale);

/* sale_script() with this statement for the orders' rows. */
bool sale_script_with(const struct sale_terms *terms, const struct sale_statement *insert,
                      char *out, size_t size);

#endif /* DB_SALE_STEPS_H */
