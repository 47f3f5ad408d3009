/* SPDX-License-Identifier: MIT */
/* lab_db.h -- the laboratory's own connection to the database.
 *
 * Ownership   lab_db_open() makes a connection that the caller must lab_db_close().
 * Threads     A connection belongs to one thread.
 * Errors      Functions that can fail return false and leave text in lab_db_error().
 */
#ifndef DB_LAB_DB_H
#define DB_LAB_DB_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct lab_db lab_db; /* opaque */

/* Connect.  False: *out is NULL and `error` says why. */
bool lab_db_open(lab_db **out, const char *url, char *error, size_t size);

/* Wait for so long at most, from now on: for each answer, and for each connection that has to be
 * made again.  An answer that is later is a failure, whose text says so, and the connection is
 * given up.  Without this call an answer is waited for without end. */
void lab_db_limit(lab_db *db, int64_t limit_ms);

/* NULL is fine. */
void lab_db_close(lab_db *db);

/* The text of the last failure; "" if no call failed.  Valid until the next call. */
const char *lab_db_error(const lab_db *db);

/* Does a PostgreSQL accept connections there?  Needs no password. */
bool lab_db_answers(const char *url);

/* As a superuser: create the database `name`, and the role `service` who may log in
 * with `password`; only a hash of it is sent. */
bool lab_db_create(lab_db *db, const char *name, const char *service,
                   const char *password);

/* Run statements that take no parameters and return nothing. */
bool lab_db_run(lab_db *db, const char *sql);

#endif /* DB_LAB_DB_H */
