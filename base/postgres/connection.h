/* SPDX-License-Identifier: MIT */
/* connection.h -- a connection to PostgreSQL that prepares each statement once.
 *
 * Statements are described by constants.  A connection notes which of them its session has
 * prepared.
 *
 * Time        Deadlines are instants of dlock_clock_ns(), in nanoseconds.
 * Ownership   postgres_connection_new() makes a connection that the caller must
 *             postgres_connection_close().
 * Loss        A connection on which anything went wrong below SQL must be closed: only then
 *             does no later statement read the answer of an earlier one.
 * Threads     One thread at a time uses a connection.
 */
#ifndef BASE_POSTGRES_CONNECTION_H
#define BASE_POSTGRES_CONNECTION_H

#include "base/postgres/message.h"
#include "base/postgres/pooler.h"
#include "base/postgres/wire.h"

struct postgres_connection; /* opaque */

enum {
    POSTGRES_PREPARED_MAX = 64,   /* statements of one connection */
    POSTGRES_PARAMETERS_MAX = 20, /* of one statement */
};

/* A statement.  `types` has one letter per parameter:
 *     i  bigint     t  text     b  bytea, given as text and sent as its bytes
 *     u  what the server infers, given as text
 * The struct must be static, since connections remember its address.  Two statements of
 * one connection have two names. */
struct postgres_statement {
    const char *name;
    const char *sql;
    const char *types;
};

/* The value of one parameter; a NULL text is NULL. */
struct postgres_value {
    int64_t integer;
    const char *text;
    bool is_null;
};

/* ---- open and close ---- */

/* Begin to connect, as postgres_wire_new().  Behind a pooler, `settings` must be NULL.
 * NULL: no memory. */
struct postgres_connection *
postgres_connection_new(const struct postgres_wire_options *options,
                        enum postgres_pooler pooler);

/* Finish connecting.  Unless OPEN, postgres_connection_error() and _state() say why; after
 * LATE the text may be empty or end in the middle of its sentence. */
enum postgres_opening postgres_connection_open(struct postgres_connection *connection,
                                               int64_t deadline_ns);

/* Hang up and free.  NULL is fine. */
void postgres_connection_close(struct postgres_connection *connection);

/* The session, for what this header has no function for. */
struct postgres_wire *postgres_connection_wire(struct postgres_connection *connection);

/* ---- statements; false means that the connection is broken ---- */

/* Has this session prepared it, as far as this end knows?  Behind a pooler of transactions
 * every statement counts as prepared, since each execution carries its text. */
bool postgres_connection_has(const struct postgres_connection *connection,
                             const struct postgres_statement *statement);

/* Put a message that prepares it, and note it as prepared.  If the server refuses, call
 * postgres_connection_forget().  False also when the connection has POSTGRES_PREPARED_MAX. */
bool postgres_connection_prepare(struct postgres_connection *connection,
                                 const struct postgres_statement *statement);
void postgres_connection_forget(struct postgres_connection *connection,
                                const struct postgres_statement *statement);

/* Put the execution of a prepared statement.  The values are read during the call. */
bool postgres_connection_execute(struct postgres_connection *connection,
                                 const struct postgres_statement *statement,
                                 const struct postgres_value *values);

/* ---- what is known without I/O ---- */

/* Is it broken, or about to be?  An idle session has nothing to say, so one that has
 * something to say has been hung up on.  Ask it between two statements. */
bool postgres_connection_is_gone(const struct postgres_connection *connection);

bool postgres_connection_is_in_transaction(const struct postgres_connection *connection);

/* The last message of libpq or of the server, as one line.  Valid until the next call. */
const char *postgres_connection_error(struct postgres_connection *connection);

/* The SQLSTATE of an opening that failed, "" if the server did not say one. */
const char *postgres_connection_state(const struct postgres_connection *connection);

#endif /* BASE_POSTGRES_CONNECTION_H */
