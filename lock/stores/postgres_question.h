/* SPDX-License-Identifier: MIT */
/* postgres_question.h -- one question to PostgreSQL, and its answer, by a deadline.
 *
 * Invariant: a connection on which anything went wrong below SQL is closed at once, so
 * no later question can read the answer of an earlier one, and a database session that
 * may hold something we do not know of ends.
 *
 * Threads     One at a time uses a connection.
 */
#ifndef DLOCK_POSTGRES_QUESTION_H
#define DLOCK_POSTGRES_QUESTION_H

#include <stdbool.h>
#include <stdint.h>

#include "base/postgres/connection.h"
#include "lock/dlock_variant.h"
#include "lock/stores/postgres_answer.h"

struct postgres_conn; /* opaque */

/* A statement and what may answer it.  $1 is always the name of the lock, as bytea: a name
 * may hold bytes that no text may.  A statement without types is sent as it is. */
struct postgres_question {
    struct postgres_statement statement; /* its name is unique within a variant        */
    struct postgres_shape shape;         /* of its answer                              */
    bool may_wait; /* for a lock, as long as postgres_limit_wait() lets it; else it is
                    * never answered BUSY                                              */
};

enum { POSTGRES_VALUES_MAX = 6 }; /* of one question */

/* Where the server is, and how long one statement, or connecting, may last. */
struct postgres_place {
    char *url;
    int timeout_ms;
    enum postgres_pooler pooler;
    size_t host; /* of the URL's hosts, from 0: the one that was the right one last */
};

/* Connect to a server that takes writes, unless the URL has other target_session_attrs.
 * *host: which of the URL's hosts it is; only after OK.
 * OK, IO (nobody answers, too late, or the server is a standby), PROTOCOL (refused),
 * NOMEM. */
dlock_status postgres_connect(struct postgres_conn **out, const struct postgres_place *place,
                              size_t *host);

/* Hang up: the server rolls back and frees what the session held.  NULL is fine. */
void postgres_hang_up(struct postgres_conn *conn);

/* Ask, and wait for the answer, until give_up_ns or for the command timeout, whichever is
 * first.
 *   OK        *out (which may be NULL) is the answer
 *   BUSY      the server answered that a lock was not to be had (lock_timeout, NOWAIT)
 *   UNKNOWN   no answer, or the server committed without its synchronous standby: it may
 *             or may not have run, or may be lost.  The connection is broken
 *   IO        it was certainly not run: it could not be sent, or the server gave up, or it
 *             takes no writes any more; then the connection is broken
 *   PROTOCOL  the server refused it, or its answer is none to that statement: then it may
 *             have run, and the connection is broken */
dlock_status postgres_ask(struct postgres_conn *conn,
                          const struct postgres_question *question,
                          const char *const *values, int64_t give_up_ns,
                          struct postgres_answer *out);

/* Let the statements to come wait in the server for locks until `until_ns`, but no
 * longer than half the command timeout at a time.  A statement that waited so long answers BUSY. */
dlock_status postgres_limit_wait(struct postgres_conn *conn, int64_t until_ns,
                                 int64_t give_up_ns);

/* Is the session at the other end gone?  No I/O.  An idle connection has nothing to
 * say, so one that can be read has been hung up on, or is about to be. */
bool postgres_is_gone(const struct postgres_conn *conn);

/* Is a transaction open?  A broken connection has none. */
bool postgres_is_in_transaction(const struct postgres_conn *conn);

/* The server process at the other end. */
int postgres_backend_pid(const struct postgres_conn *conn);

#endif /* DLOCK_POSTGRES_QUESTION_H */
