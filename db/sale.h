/* SPDX-License-Identifier: MIT */
/* sale.h -- sells one unit of a voucher to a user.  The service, the stories of the
 * laboratory and the script for pgbench share this sequence of statements.
 *
 *     sale_begin     BEGIN, the count of the user's earlier orders, the stock guard's read
 *     sale_finish    the stock guard's take
 *                    the order's row, its line in the record of writes, COMMIT
 *
 * Each line is one round trip.  If there is nothing to count or read, the first round
 * trip is left out, and BEGIN is sent with the take.
 *
 * Threads     A sale belongs to one thread, as its connection does.
 */
#ifndef DB_SALE_H
#define DB_SALE_H

#include "db/guard.h"

/* The step of a sale at which its watcher is called. */
enum sale_point {
    SALE_AFTER_READ,    /* the guards' reads, if any, are done; nothing was written */
    SALE_BEFORE_COMMIT, /* the unit is taken; the order's row and COMMIT, which go in one
                         * message, are not sent yet */
    SALE_AFTER_COMMIT,  /* COMMIT was answered */
};

/* Called at each point.  It may wait, or call db_break(), but must not run a statement.
 * False: give up.  After the commit, false means that the answer to the COMMIT counts
 * as lost. */
typedef bool sale_watch(enum sale_point point, struct db_conn *db, void *arg);

/* Begin the transaction, and make the guards' reads.  True: the caller calls
 * sale_finish() or sale_cancel() next.  False: the sale has ended, and sale->answer is
 * SOLD_OUT, COUNTED or FAILED. */
bool sale_begin(struct db_conn *db, struct sale *sale);

/* Take a unit, insert the order and commit.  `watch` is called with `arg` at each
 * point; NULL: no function.  Returns sale->answer.  If the sale keeps a record of
 * writes, a refusal by the database is written into it. */
enum sale_answer sale_finish(struct db_conn *db, struct sale *sale, sale_watch *watch,
                             void *arg);

/* Roll back the transaction, if one is open. */
void sale_cancel(struct db_conn *db);

/* Check that the orders' table and all its columns exist.  ERROR: db_error() names the
 * missing one. */
enum db_status sale_look_for_table(struct db_conn *db);

/* Check if the session has all that db/sale_needs.h lists; `records`: also the right to
 * add to the record of writes.  OK: *lacks is what it lacks, valid until the next run; "":
 * nothing. */
enum db_status sale_look_for_needs(struct db_conn *db, bool records, const char **lacks);

/* Write the statements of one sale under these terms as a script for pgbench -M
 * prepared, whose variables have the names of SALE_VALUES.  False: `size` is too small,
 * or the stock guard reads, or the duplicate guard counts, and a script cannot act on
 * what it read. */
bool sale_script(const struct sale_terms *terms, char *out, size_t size);

#endif /* DB_SALE_H */
