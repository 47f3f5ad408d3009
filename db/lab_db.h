/* SPDX-License-Identifier: MIT */
/* lab_db.h -- the laboratory's own connection to the database.
 *
 * Ownership   lab_db_open() makes a connection, and the caller closes it with
 *             lab_db_close().
 * Threads     A connection belongs to one thread.
 * Errors      Functions that can fail return false and leave text in lab_db_error().
 */
#ifndef DB_LAB_DB_H
#define DB_LAB_DB_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct lab_db lab_db; /* opaque */

/* Connect, for at most 30 s.  False: *out is NULL and `error` says why.  Without memory
 * the program aborts. */
bool lab_db_open(lab_db **out, const char *url, char *error, size_t size);

/* From now on wait at most limit_ms for each answer, and for each new connection.  If
 * an answer comes later, the call fails, the error text says so, and the connection is
 * closed.  Without this call an answer has no limit, and a new connection has 30 s.
 * The next call opens a closed connection again. */
void lab_db_limit(lab_db *db, int64_t limit_ms);

/* NULL is fine. */
void lab_db_close(lab_db *db);

/* The text of the last failure; "" if no call failed.  Valid until the next call. */
const char *lab_db_error(const lab_db *db);

/* Has the last call failed because the connection was lost, and not because the server refused? */
bool lab_db_is_lost(const lab_db *db);

/* Does the PostgreSQL of `url` accept connections?  Needs no password. */
bool lab_db_answers(const char *url);

/* As a superuser: create the database `name`, and the role `service` who may log in
 * with `password`, and set the superuser's own password.  Both have to be random, since the secrets
 * that are sent for them stop nobody who tries likely passwords. */
bool lab_db_create(lab_db *db, const char *name, const char *service,
                   const char *password, const char *own_password);

/* Run statements that take no parameters and return nothing. */
bool lab_db_run(lab_db *db, const char *sql);

#endif /* DB_LAB_DB_H */
