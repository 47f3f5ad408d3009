/* SPDX-License-Identifier: MIT */
/* issue.h -- the laboratory's side of the database: set it up and issue vouchers.
 *
 * What was issued is kept in the schema `lab`, where the service has no rights, so that
 * an audit need not believe a row that a run changed.
 *
 * Ownership   lab_db_open() makes a connection that the caller must lab_db_close().
 * Threads     A connection belongs to one thread.
 * Errors      Functions that can fail return false and leave text in lab_db_error().
 */
#ifndef DB_ISSUE_H
#define DB_ISSUE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct lab_db lab_db; /* opaque */

/* Connect.  False: *out is NULL and `error` says why. */
bool lab_db_open(lab_db **out, const char *url, char *error, size_t size);

/* NULL is fine. */
void lab_db_close(lab_db *db);

/* What went wrong last; "" if nothing did.  Valid until the next call. */
const char *lab_db_error(const lab_db *db);

/* Does a PostgreSQL accept connections there?  Needs no password. */
bool lab_db_answers(const char *url);

/* As a superuser: create the database `name`, and the role `service` who may log in
 * with `password`; only a hash of it is sent. */
bool lab_db_create(lab_db *db, const char *name, const char *service,
                   const char *password);

/* Run statements that take no parameters and return nothing. */
bool lab_db_run(lab_db *db, const char *sql);

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
