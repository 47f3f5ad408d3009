/* SPDX-License-Identifier: MIT */
/* pooler.h -- the kinds of poolers between a program and PostgreSQL, which decide what
 * a session keeps.
 *
 * Threads     Any. */
#ifndef BASE_POSTGRES_POOLER_H
#define BASE_POSTGRES_POOLER_H

#include <stdbool.h>
#include <stddef.h>

/* A kind of pooler, by its name in settings.
 *   NONE         a connection is a session of the server
 *   SESSION      a connection has a session to itself from its first statement to its end,
 *                and the pooler refuses settings when the connection is opened
 *   TRANSACTION  each transaction may go to another session: no prepared statement, no
 *                setting and no session lock outlives its transaction */
#define POSTGRES_POOLERS(X)                                                            \
    X(NONE, "none")                                                                    \
    X(SESSION, "session")                                                              \
    X(TRANSACTION, "transaction")

enum postgres_pooler {
#define X(id, name) POSTGRES_POOLER_##id,
    POSTGRES_POOLERS(X)
#undef X
};

/* The name of the pooler at `index`, from 0; NULL past the last. */
const char *postgres_pooler_name_at(size_t index);

/* Read a name.  False: there is no such pooler, and *out is unchanged. */
bool postgres_pooler_read(const char *name, enum postgres_pooler *out);

#endif /* BASE_POSTGRES_POOLER_H */
