/* SPDX-License-Identifier: MIT */
/* database.h -- reads and changes the PostgreSQL of a variant directly, without the
 * library.
 *
 * The database is that of the environment, as its owner, who may end any session in it. */
#ifndef CONFORMANCE_DATABASE_H
#define CONFORMANCE_DATABASE_H

#include <stdbool.h>

/* The first column of the first row, "" if there is none.  $1, if the statement has it,
 * is `name` as bytea.  Valid until the next call. */
const char *database_tell(const char *sql, const char *name);

/* The same as a number. */
long long database_ask(const char *sql, const char *name);

/* The number of rows of the lock tables for `name`. */
long long database_count_rows(const char *name);

/* Backends of this process' locks; `condition` is SQL about pg_stat_activity. */
long long database_count_backends(const char *condition);

/* Stop one of them (SIGSTOP), as a hung server; and let all stopped ones run. */
void database_stop_backend(int pid);
void database_wake(void);

/* Hang up. */
void database_stop(void);

#endif /* CONFORMANCE_DATABASE_H */
