/* SPDX-License-Identifier: MIT */
/* wire.h -- the only way to a PostgreSQL server: messages to it, results from it.
 *
 * wire.c and wire_open.c speak through libpq, and no other file of the programs includes
 * libpq.  A model of PostgreSQL can replace both as a whole: every other file sees the
 * server through the functions below alone.
 *
 *     put     add a message to what will be sent; nothing leaves yet
 *     send    hand everything that was put to the network
 *     receive wait for the next result of the server
 *
 * Time        Deadlines are instants of dlock_clock_ns(), in nanoseconds.  A deadline that
 *             has passed still lets a call look once, so an answer that has arrived counts.
 *             A signal that interrupts a wait does not end the wait.
 * Ownership   postgres_wire_new() makes a wire that the caller must postgres_wire_close();
 *             postgres_wire_receive() gives results that the caller must
 *             postgres_result_free().
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

struct postgres_wire_options {
    const char *url;              /* postgresql://..., as libpq reads it               */
    const char *application_name; /* what pg_stat_activity shows; may be NULL          */
    const char *settings;         /* as in "-c a=1 -c b=2"; may be NULL                */
    bool wants_primary;           /* where the URL has no target_session_attrs: only a
                                   * server that takes writes is the right one         */
    size_t first_host;            /* of the URL's hosts, from 0: the first to be tried */
};

/* Begin to connect.  Of several hosts in the URL the first that answers and is wanted is
 * taken; they are tried one after another, beginning with `first_host`.  Texts are read
 * during the call.
 * NULL: no memory.  A wire that cannot be opened says so in postgres_wire_open(). */
struct postgres_wire *postgres_wire_new(const struct postgres_wire_options *options);

enum postgres_opening {
    POSTGRES_OPEN,   /* a session has begun */
    POSTGRES_FAILED, /* nobody answered, or the server refused: postgres_wire_error() */
    POSTGRES_LATE,   /* the deadline passed; the only thing left to do is to close */
};

/* Finish connecting.  Of several hosts each has an equal part of the time that is left, and
 * no more than the URL's connect_timeout. */
enum postgres_opening postgres_wire_open(struct postgres_wire *wire, int64_t deadline_ns);

/* Which of the URL's hosts, from 0, it is connected to, or was tried last. */
size_t postgres_wire_host(const struct postgres_wire *wire);

/* Break the connection as the network would: the server finds out at once, this end in
 * its next call. */
void postgres_wire_cut(struct postgres_wire *wire);

/* Hang up and free; the server rolls back what was open.  NULL is fine. */
void postgres_wire_close(struct postgres_wire *wire);

/* ---- put and send: false means that the wire is broken, postgres_wire_error() says why,
 * and the server may or may not have seen what was put ---- */

/* From now on (or no longer) several statements may be put before the results of the first
 * are received, and postgres_wire_put_sync() ends a batch.  No answer may be outstanding. */
bool postgres_wire_set_batches(struct postgres_wire *wire, bool on);

/* A text without parameters, which may be several statements; not in a batch. */
bool postgres_wire_put_query(struct postgres_wire *wire, const char *sql);

/* A statement with `count` parameters as text; NULL is NULL. */
bool postgres_wire_put_question(struct postgres_wire *wire, const char *sql, int count,
                                const char *const *values);

/* The same with types, lengths and formats as below: a statement that no later one refers
 * to, which a pooler may give to any session. */
bool postgres_wire_put_unnamed(struct postgres_wire *wire, const char *sql, int count,
                               const unsigned *types, const char *const *values,
                               const int *lengths, const int *formats);

/* Prepare a statement; a type is the server's number, 0 leaves the server to infer it. */
bool postgres_wire_put_prepare(struct postgres_wire *wire, const char *name,
                               const char *sql, int count, const unsigned *types);

/* Execute a prepared one.  A format is 0 for text, 1 for binary; a length counts only for
 * binary. */
bool postgres_wire_put_execute(struct postgres_wire *wire, const char *name, int count,
                               const char *const *values, const int *lengths,
                               const int *formats);

/* End a batch: what failed in it does not reach beyond this point. */
bool postgres_wire_put_sync(struct postgres_wire *wire);

/* Send what was put.  False: it broke, or the deadline passed with a part unsent. */
bool postgres_wire_send(struct postgres_wire *wire, int64_t deadline_ns);

/* ---- wait and receive ---- */

/* Wait for the server to say something or to hang up.  True: it did.  False: the deadline
 * passed. */
bool postgres_wire_wait(const struct postgres_wire *wire, int64_t deadline_ns);

/* Wait for the next result.  True: *out is the result, or NULL where the results of one
 * statement end.  False: none came before the deadline, or the wire broke; then it must be
 * closed, since the result may still come. */
bool postgres_wire_receive(struct postgres_wire *wire, int64_t deadline_ns,
                           struct postgres_result **out);

/* Has the server said more than it was asked, so that the next statement would take that
 * for its answer?  No I/O. */
bool postgres_wire_has_said_more(struct postgres_wire *wire);

/* ---- what is known of the session; no I/O ---- */

enum postgres_transaction {
    POSTGRES_NO_TRANSACTION,
    POSTGRES_IN_TRANSACTION,
    POSTGRES_IN_FAILED_TRANSACTION, /* only ROLLBACK is left to do */
    POSTGRES_TRANSACTION_UNKNOWN,   /* a statement runs, or the wire is broken */
};

enum postgres_transaction postgres_wire_transaction(const struct postgres_wire *wire);
/* Did the server say that it no longer waits for its synchronous standby?  Then a COMMIT of
 * this session that was answered as done is on the server, and may be lost with it. */
bool postgres_wire_is_unreplicated(const struct postgres_wire *wire);
bool postgres_wire_is_broken(const struct postgres_wire *wire);
/* The server process at the other end. */
int postgres_wire_backend_pid(const struct postgres_wire *wire);
/* Host and port as "localhost:5432", cut to `size`. */
void postgres_wire_address(const struct postgres_wire *wire, char *out, size_t size);
/* The last message of libpq or of the server: several lines.  Until the session has
 * begun, the lines have the SQLSTATEs, and of several hosts each has its lines.  Valid until the next call. */
const char *postgres_wire_error(const struct postgres_wire *wire);

/* ---- results ---- */

enum postgres_result_kind {
    POSTGRES_RESULT_DONE,  /* a statement without rows was executed */
    POSTGRES_RESULT_ROWS,
    POSTGRES_RESULT_EMPTY, /* the statement was no statement: spaces, a comment */
    POSTGRES_RESULT_ERROR, /* the server refused */
    POSTGRES_RESULT_SYNC,  /* the end of a batch */
    POSTGRES_RESULT_OTHER, /* no answer to a statement, or one that an error passed over */
};

/* NULL reads as an error without words and without rows. */
enum postgres_result_kind postgres_result_kind(const struct postgres_result *result);
/* Rows and columns count from 0; reading what is not there answers NULL, "", 0 or true. */
int postgres_result_rows(const struct postgres_result *result);
int postgres_result_columns(const struct postgres_result *result);
bool postgres_result_is_null(const struct postgres_result *result, int row, int column);
const char *postgres_result_text(const struct postgres_result *result, int row, int column);
size_t postgres_result_length(const struct postgres_result *result, int row, int column);
/* The server's number of a column's type; 0 if its values are binary. */
unsigned postgres_result_type(const struct postgres_result *result, int column);
/* The server's name for what it did: "UPDATE 1", "COMMIT". */
const char *postgres_result_tag(const struct postgres_result *result);
/* Of an error, NULL if the server did not say: SQLSTATE, and the constraint's name. */
const char *postgres_result_state(const struct postgres_result *result);
const char *postgres_result_constraint(const struct postgres_result *result);
/* All that the server said of an error: several lines. */
const char *postgres_result_message(const struct postgres_result *result);
/* NULL is fine. */
void postgres_result_free(struct postgres_result *result);

/* ---- without a session ---- */

/* Can libpq read this URL?  If not, `why` gets libpq's words without the URL, which may
 * have a password in it. */
bool postgres_url_is_valid(const char *url, char *why, size_t size);

/* How many hosts does it name that are tried one after another?  1 if libpq cannot read it. */
size_t postgres_url_hosts(const char *url);

/* Does a server accept connections there?  Needs no password; waits as long as the URL's
 * connect_timeout says. */
bool postgres_answers(const char *url);

/* ---- passwords ---- */

/* The hash that the server keeps of a role's password, so that the password itself is not
 * sent.  False: no memory, or `size` is too small. */
bool postgres_wire_hash_password(struct postgres_wire *wire, const char *role,
                                 const char *password, char *out, size_t size);

#endif /* BASE_POSTGRES_WIRE_H */
