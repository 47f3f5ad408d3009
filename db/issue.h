/* SPDX-License-Identifier: MIT */
/* issue.h -- issues vouchers for the laboratory.
 *
 * The issue is recorded in the schema `lab`, where the service has no rights.  So an
 * audit need not trust a row that the service can change.
 *
 * Errors      as in lab_db.h.
 */
#ifndef DB_ISSUE_H
#define DB_ISSUE_H

#include <stdbool.h>
#include <stdint.h>

#include "db/lab_db.h"

struct lab_voucher {
    const char *title;
    int64_t stock;
    const char *begin; /* any time that PostgreSQL reads; NULL: a minute ago       */
    const char *end;   /* NULL: a year after `begin`, and at least a year from now */
};

/* Does PostgreSQL read the text as a time?  To be called outside a transaction, which a refused
 * text would end.  False: there is no answer, and *is_time is false. */
bool lab_issue_reads_time(lab_db *db, const char *text, bool *is_time);

/* Whether a sale can have this window. */
enum lab_window {
    LAB_WINDOW_GOOD,
    LAB_WINDOW_IS_ENDLESS,  /* a time is infinity                                     */
    LAB_WINDOW_IS_REVERSED, /* the end is before the beginning                        */
};

/* Judge the window of a lab_voucher, whose times PostgreSQL reads or which are NULL.  False: there
 * is no answer. */
bool lab_issue_judge_window(lab_db *db, const char *begin, const char *end,
                            enum lab_window *window);

/* Begin a transaction during which no other session can make a voucher.  *has_vouchers:
 * there are vouchers already. lab_issue_commit() ends the transaction; closing the
 * connection rolls it back.  False: no answer, or a refusal, also if another
 * transaction uses the table for half a minute; lab_db_error() says why. */
bool lab_issue_begin(lab_db *db, bool *has_vouchers);

/* Commit the vouchers that were issued since lab_issue_begin().  False: nothing was
 * committed, unless only the answer to the COMMIT was lost. */
bool lab_issue_commit(lab_db *db);

/* Create a voucher with its stock, and record the issue; *id is the voucher's
 * number. */
bool lab_issue_voucher(lab_db *db, const struct lab_voucher *voucher, int64_t *id);

#endif /* DB_ISSUE_H */
