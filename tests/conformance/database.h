/* SPDX-License-Identifier: MIT */
/* database.h -- reads and changes the PostgreSQL of a variant directly, without the
 * library.
 *
 * The functions connect to the database of the environment as its owner, who may end any session of
 * this database. */
#ifndef CONFORMANCE_DATABASE_H
#define CONFORMANCE_DATABASE_H

#include <stdbool.h>

/* Return the first column of the first row, "" if there is no row. If the statement has a $1, it is
 * `name` as bytea. The text is valid until the next call. */
const char *database_tell(const char *sql, const char *name);

/* The same as a number. */
long long database_ask(const char *sql, const char *name);

/* The number of rows of the lock tables for `name`. */
long long database_count_rows(const char *name);

/* Count the backends that the locks of this process use and that fit `condition`, which is SQL
 * about pg_stat_activity. */
long long database_count_backends(const char *condition);

/* Stop a backend by SIGSTOP, as a server that hangs; and let all stopped backends run. */
void database_stop_backend(int pid);
void database_wake(void);

/* Close the connection to the database. */
void database_stop(void);

#endif /* CONFORMANCE_DATABASE_H */
