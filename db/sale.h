/* SPDX-License-Identifier: MIT */
/* sale.h -- sell one unit of a voucher to a user: the one sequence of statements that the
 * service, the stories of the laboratory and the script for pgbench share.
 *
 *     sale_begin     BEGIN, the count of the user's earlier orders, the stock guard's read
 *     sale_finish    the stock guard's take
 *                    the order's row, its line in the record of writes, COMMIT
 *
 * Each line is one round trip.  With nothing to count or read the first one is left out, and
 * BEGIN goes ahead of the take.
 *
 * Threads     A sale belongs to one thread, as its connection does.
 */
#ifndef DB_SALE_H
#define DB_SALE_H

#include "db/guard.h"

/* The step of a sale at which its watcher is called. */
enum sale_point {
    SALE_AFTER_READ,    /* stock or earlier orders were read, nothing was written */
    SALE_BEFORE_COMMIT, /* the unit is taken; the order's row and COMMIT, which go in one
                         * message, are not sent yet */
    SALE_AFTER_COMMIT,  /* COMMIT was answered */
};

/* Called at each point.  It may wait, or db_break() the connection, but runs no statement.
 * False: give up.  After the commit that means that nobody heard the answer. */
typedef bool sale_watch(enum sale_point point, struct db_conn *db, void *arg);

/* Begin, and read what the guards want to know.  True: sale_finish() or sale_cancel() comes
 * next.  False: the sale is over, and sale->answer is SOLD_OUT, COUNTED or FAILED. */
bool sale_begin(struct db_conn *db, struct sale *sale);

/* Take a unit, insert the order and commit.  `watch` is called with `arg`; NULL: nobody
 * watches.  Answers sale->answer.  A refusal by the database itself is written into the
 * record, where one is kept. */
enum sale_answer sale_finish(struct db_conn *db, struct sale *sale, sale_watch *watch,
                             void *arg);

/* Roll back, if there is something to roll back. */
void sale_cancel(struct db_conn *db);

/* Are the orders' table and all its columns there?  ERROR: db_error() names what is not. */
enum db_status sale_look_for_table(struct db_conn *db);

/* Is the record of writes there, and may this role add to it?  OK with *is_there. */
enum db_status sale_look_for_record(struct db_conn *db, bool *is_there);

/* Write the statements of one sale under these terms as a script for pgbench -M prepared,
 * whose variables have the names of SALE_VALUES.  False: there is no room, or the stock
 * guard reads, retries or refuses, which a script cannot. */
bool sale_script(const struct sale_terms *terms, char *out, size_t size);

#endif /* DB_SALE_H */
