/* SPDX-License-Identifier: MIT */
/* connection.h -- a connection to PostgreSQL that prepares each statement once.
 *
 * Statements are static structs.  A connection remembers which of them its session has
 * prepared.
 *
 * Time        Deadlines are instants of dlock_clock_ns(), in nanoseconds.
 * Ownership   postgres_connection_new() makes a connection, and the caller closes it
 *             with postgres_connection_close().
 * Loss        A connection on which anything went wrong below SQL must be closed.
 *             Otherwise a later statement could read the answer of an earlier one.
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
 *     u  a type that the server infers, given as text
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

/* Begin to connect, as postgres_wire_new().  With a pooler, options->settings must be
 * NULL. NULL: no memory. */
struct postgres_connection *
postgres_connection_new(const struct postgres_wire_options *options,
                        enum postgres_pooler pooler);

/* Finish connecting before deadline_ns.  OPEN: the connection can be used.  Otherwise
 * postgres_connection_error() and _state() say why; after LATE their text may be empty
 * or cut. */
enum postgres_opening postgres_connection_open(struct postgres_connection *connection,
                                               int64_t deadline_ns);

/* Close the connection and free it.  NULL is fine. */
void postgres_connection_close(struct postgres_connection *connection);

/* The wire of the connection, for functions that this header does not have. */
struct postgres_wire *postgres_connection_wire(struct postgres_connection *connection);

/* ---- statements; false means that the connection is broken ---- */

/* Has this session prepared the statement, as far as the connection knows?  Behind a
 * pooler of transactions the answer is true, since each execution has the text of the
 * statement. */
bool postgres_connection_has(const struct postgres_connection *connection,
                             const struct postgres_statement *statement);

/* Put a message that prepares the statement, and note it as prepared.  If the server
 * refuses, the caller calls postgres_connection_forget().  False also if the connection
 * has POSTGRES_PREPARED_MAX prepared statements. */
bool postgres_connection_prepare(struct postgres_connection *connection,
                                 const struct postgres_statement *statement);
void postgres_connection_forget(struct postgres_connection *connection,
                                const struct postgres_statement *statement);

/* Put the execution of a prepared statement.  The values are read during the call. */
bool postgres_connection_execute(struct postgres_connection *connection,
                                 const struct postgres_statement *statement,
                                 const struct postgres_value *values);

/* ---- what is known without I/O ---- */

/* Is the connection broken, or about to be?  The server sends nothing in an idle
 * session, so a readable socket means that the server has closed it.  Call this between
 * two statements. */
bool postgres_connection_is_gone(const struct postgres_connection *connection);

bool postgres_connection_is_in_transaction(const struct postgres_connection *connection);

/* The last message of libpq or of the server, as one line.  Valid until the next call. */
const char *postgres_connection_error(struct postgres_connection *connection);

/* The SQLSTATE of an opening that failed, "" if the server did not say one. */
const char *postgres_connection_state(const struct postgres_connection *connection);

#endif /* BASE_POSTGRES_CONNECTION_H */
