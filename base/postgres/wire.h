/* SPDX-License-Identifier: MIT */
/* wire.h -- the only way to a PostgreSQL server: messages to it, results from it.
 *
 * wire.c and wire_open.c speak through libpq, and no other file of the programs includes
 * libpq.  A model of PostgreSQL can replace both as a whole: every other file sees the
 * server through the functions below alone.
 *
 *     put     add a message to the send buffer; nothing is sent yet
 *     send    send everything that was put
 *     receive wait for the next result of the server
 *
 * Time        Deadlines are instants of dlock_clock_ns(), in nanoseconds.  If the
 *             deadline has passed already, a call still reads once, so an answer that
 *             has arrived is read.  Neither a signal ends a wait nor bytes that keep
 *             coming prolong it.
 * Ownership   postgres_wire_new() makes a wire, and the caller closes it with
 *             postgres_wire_close().  The caller frees each result of
 *             postgres_wire_receive() with postgres_result_free().
 * Threads     One thread at a time uses a wire.
 */
#ifndef BASE_POSTGRES_WIRE_H
#define BASE_POSTGRES_WIRE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct postgres_wire;   /* opaque */
struct postgres_result; /* opaque */

/* ---- open, cut, close ---- */

/* When an end of a connection gives the other end up, because its machine or the network
 * is silent: the client 11 s after the last packet, and 10 s after a packet that was not
 * confirmed; the server 30 s after either.  The last packets that the two ends got may
 * lie 5 s apart, so the server waits much longer, and frees the lock of a session only
 * after its holder was told.  Each row is X(the client's keyword, the client's value,
 * the server's setting, the server's value).  The server's end has its values if the
 * opener's `settings` say so, and otherwise those of its system, which on Linux are more
 * than two hours. */
#define POSTGRES_SILENCES(X)                                                           \
    X("keepalives_idle", "5", "tcp_keepalives_idle", "5")                              \
    X("keepalives_interval", "2", "tcp_keepalives_interval", "5")                      \
    X("keepalives_count", "3", "tcp_keepalives_count", "5")                            \
    X("tcp_user_timeout", "10000", "tcp_user_timeout", "30000")

struct postgres_wire_options {
    const char *url;              /* postgresql://..., as libpq reads it               */
    const char *application_name; /* what pg_stat_activity shows; may be NULL          */
    const char *settings;         /* as in "-c a=1 -c b=2"; may be NULL                */
    bool wants_primary;           /* if the URL has no target_session_attrs: connect
                                   * only to a server that takes writes */
    size_t first_host;            /* the index, from 0, of the URL's host to try
                                   * first */
    size_t answer_max;            /* a longer answer to a statement breaks the wire: about so
                                   * many bytes, and those that are on their way; 0: no
                                   * limit */
};

/* Begin to connect.  The hosts of the URL are tried one after another, beginning with
 * `first_host`; the first that answers and is of the wanted kind is used.  Texts are
 * read during the call.  NULL: no memory.  Every other failure is reported by
 * postgres_wire_open(). */
struct postgres_wire *postgres_wire_new(const struct postgres_wire_options *options);

enum postgres_opening {
    POSTGRES_OPEN,   /* a session has begun */
    POSTGRES_FAILED, /* no server answered, or it refused: postgres_wire_error() */
    POSTGRES_LATE,   /* the deadline passed; the caller can only close the wire */
};

/* Finish connecting before deadline_ns.  Each of several hosts gets an equal part of
 * the time that is left, at most the URL's connect_timeout. */
enum postgres_opening postgres_wire_open(struct postgres_wire *wire, int64_t deadline_ns);

/* The index, from 0, of the URL's host that is connected, or was tried last. */
size_t postgres_wire_host(const struct postgres_wire *wire);

/* Break the connection as the network would.  The server notices at once, this end in
 * its next call. */
void postgres_wire_cut(struct postgres_wire *wire);

/* Close the connection and free the wire.  The server rolls back an open transaction.  A
 * statement without an answer that has not arrived yet does not arrive later.  NULL is
 * fine. */
void postgres_wire_close(struct postgres_wire *wire);

/* ---- put and send: false means that the wire is broken, postgres_wire_error() says why,
 * and the server may or may not have seen what was put ---- */

/* Turn batches on or off.  In a batch several statements are put before the first
 * result is received, and postgres_wire_put_sync() ends the batch.  No answer may be
 * outstanding. */
bool postgres_wire_set_batches(struct postgres_wire *wire, bool on);

/* A text without parameters, which may be several statements; not in a batch. */
bool postgres_wire_put_query(struct postgres_wire *wire, const char *sql);

/* A statement with `count` parameters as text; NULL is NULL. */
bool postgres_wire_put_question(struct postgres_wire *wire, const char *sql, int count,
                                const char *const *values);

/* The same with types, lengths and formats as below.  The statement has no name, so a
 * pooler can send it to any session. */
bool postgres_wire_put_unnamed(struct postgres_wire *wire, const char *sql, int count,
                               const unsigned *types, const char *const *values,
                               const int *lengths, const int *formats);

/* Prepare a statement; a type is the server's number, 0 leaves the server to infer it. */
bool postgres_wire_put_prepare(struct postgres_wire *wire, const char *name,
                               const char *sql, int count, const unsigned *types);

/* Execute a prepared statement.  A format is 0 for text, 1 for binary; a length is read
 * only for binary. */
bool postgres_wire_put_execute(struct postgres_wire *wire, const char *name, int count,
                               const char *const *values, const int *lengths,
                               const int *formats);

/* End a batch: a failed statement of the batch does not affect later statements. */
bool postgres_wire_put_sync(struct postgres_wire *wire);

/* Send what was put.  False: the wire broke, or the deadline passed before all was
 * sent. */
bool postgres_wire_send(struct postgres_wire *wire, int64_t deadline_ns);

/* ---- wait and receive ---- */

/* Wait until the server has sent something or closed the connection.  True: it has.
 * False: the deadline passed. */
bool postgres_wire_wait(const struct postgres_wire *wire, int64_t deadline_ns);

/* Wait for the next result.  True: *out is the result, or NULL after the last result of
 * a statement.  False: no result came before the deadline, or the wire broke; then the
 * caller must close the wire, since the result may still come. */
bool postgres_wire_receive(struct postgres_wire *wire, int64_t deadline_ns,
                           struct postgres_result **out);

/* Has the server sent a result that no statement asked for, which the next statement
 * would read as its own?  No I/O. */
bool postgres_wire_has_said_more(struct postgres_wire *wire);

/* ---- what is known of the session; no I/O ---- */

enum postgres_transaction {
    POSTGRES_NO_TRANSACTION,
    POSTGRES_IN_TRANSACTION,
    POSTGRES_IN_FAILED_TRANSACTION, /* the server accepts only ROLLBACK */
    POSTGRES_TRANSACTION_UNKNOWN,   /* a statement runs, or the wire is broken */
};

enum postgres_transaction postgres_wire_transaction(const struct postgres_wire *wire);
/* Has the server reported that it no longer waits for its synchronous standby?  Then a
 * confirmed COMMIT of this session is on this server alone, and is lost if the server
 * is lost. */
bool postgres_wire_is_unreplicated(const struct postgres_wire *wire);
bool postgres_wire_is_broken(const struct postgres_wire *wire);
/* Is the wire broken because an answer was longer than answer_max? */
bool postgres_wire_is_flooded(const struct postgres_wire *wire);
/* The process number of the server process of the session. */
int postgres_wire_backend_pid(const struct postgres_wire *wire);
/* Host and port as "localhost:5432", cut to `size`. */
void postgres_wire_address(const struct postgres_wire *wire, char *out, size_t size);
/* The last message of libpq or of the server: several lines.  Before the session has
 * begun, the lines contain SQLSTATEs, and each of several hosts has its own lines.
 * Valid until the next call. */
const char *postgres_wire_error(const struct postgres_wire *wire);

/* ---- results ---- */

enum postgres_result_kind {
    POSTGRES_RESULT_DONE,  /* a statement without rows was executed */
    POSTGRES_RESULT_ROWS,
    POSTGRES_RESULT_EMPTY, /* the statement was empty: spaces, a comment */
    POSTGRES_RESULT_ERROR, /* the server refused */
    POSTGRES_RESULT_SYNC,  /* the end of a batch */
    POSTGRES_RESULT_OTHER, /* another message, or a statement skipped after an error */
};

/* NULL counts as an error without a message and without rows. */
enum postgres_result_kind postgres_result_kind(const struct postgres_result *result);
/* Rows and columns are numbered from 0.  For a cell that does not exist the functions
 * return NULL, "", 0 or true. */
int postgres_result_rows(const struct postgres_result *result);
int postgres_result_columns(const struct postgres_result *result);
bool postgres_result_is_null(const struct postgres_result *result, int row, int column);
const char *postgres_result_text(const struct postgres_result *result, int row, int column);
size_t postgres_result_length(const struct postgres_result *result, int row, int column);
/* The server's number of a column's type; 0 if its values are binary. */
unsigned postgres_result_type(const struct postgres_result *result, int column);
/* The command tag: "UPDATE 1", "COMMIT". */
const char *postgres_result_tag(const struct postgres_result *result);
/* The SQLSTATE of an error, and the name of its constraint; NULL: the server sent
 * none. */
const char *postgres_result_state(const struct postgres_result *result);
const char *postgres_result_constraint(const struct postgres_result *result);
/* The server's whole message of an error: several lines. */
const char *postgres_result_message(const struct postgres_result *result);
/* NULL is fine. */
void postgres_result_free(struct postgres_result *result);

/* ---- without a session ---- */

/* Can libpq parse this URL, and connect to its host and port?  If not, `why` names the first wrong
 * character, counted from 1, and the mistake, without a piece of the URL. */
bool postgres_url_is_valid(const char *url, char *why, size_t size);

/* The number of hosts in the URL that are tried one after another; 1 if libpq cannot
 * parse it. */
size_t postgres_url_hosts(const char *url);

/* Does the server of the URL accept connections?  Needs no password, and waits at most
 * the URL's connect_timeout. */
bool postgres_answers(const char *url);

#endif /* BASE_POSTGRES_WIRE_H */
