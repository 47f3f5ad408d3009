/* SPDX-License-Identifier: MIT */
/* issue.h -- vouchers as the laboratory issues them.
 *
 * The issue is recorded in the schema `lab`, where the service has no rights, so that
 * an audit need not believe a row that a run changed.
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
    const char *end;   /* NULL: in a year                                          */
};

/* Begin a transaction in which nobody else can make a voucher; *has_vouchers: there are
 * some already.  lab_issue_commit() ends it; closing the connection takes it back. */
bool lab_issue_begin(lab_db *db, bool *has_vouchers);

/* Keep what was issued since lab_issue_begin().  False: nothing was kept, unless the
 * answer to the COMMIT was lost. */
bool lab_issue_commit(lab_db *db);

/* Create a voucher with its stock and write down what was issued; *id is its number. */
bool lab_issue_voucher(lab_db *db, const struct lab_voucher *voucher, int64_t *id);

#endif /* DB_ISSUE_H */
