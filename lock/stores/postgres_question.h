/* SPDX-License-Identifier: MIT */
/* postgres_question.h -- one question to PostgreSQL, and its answer, by a deadline.
 *
 * Every answer is checked.  PROTOCOL: the statement cannot have this answer, because of its number
 * of rows or columns, a type, an unexpected NULL, or a number out of range.
 *
 * Invariant: a connection on which anything went wrong below SQL is closed at once, so
 * no later question can read the answer of an earlier one, and a database session that
 * may hold an unknown lock ends.
 *
 * Threads     One thread at a time uses a connection.
 */
#ifndef DLOCK_POSTGRES_QUESTION_H
#define DLOCK_POSTGRES_QUESTION_H

#include <stdbool.h>
#include <stdint.h>

#include "base/postgres/connection.h"
#include "lock/dlock_variant.h"

struct postgres_conn; /* opaque */

/* The content of the only column. */
enum postgres_kind {
    POSTGRES_NOTHING, /* no rows: the statement has only to succeed */
    POSTGRES_VOID,
    POSTGRES_BOOL,
    POSTGRES_INT4,
    POSTGRES_INT8,
    POSTGRES_TEXT,
};

/* The shape of an answer: one row of one column that is not NULL, unless a field says
 * otherwise. */
struct postgres_shape {
    enum postgres_kind kind;
    bool may_be_absent;  /* there may be no row       */
    bool may_be_null;
    int64_t least, most; /* of POSTGRES_INT4 and INT8 */
};

/* The shapes of RETURNING 1 with at most one row, and of a count. */
#define POSTGRES_ONE_IF_ANY                                                            \
    {.kind = POSTGRES_INT4, .may_be_absent = true, .least = 1, .most = 1}
#define POSTGRES_COUNT {.kind = POSTGRES_INT8, .least = 0, .most = INT32_MAX}
/* The number of sessions that were ended; -1: one of them has not ended yet. */
#define POSTGRES_ENDED {.kind = POSTGRES_INT8, .least = -1, .most = INT32_MAX}

/* The largest number of milliseconds until the end of a lease by the database's clock,
 * whose times are microseconds. */
#define POSTGRES_MS_MOST (INT64_MAX / 1000)

enum { POSTGRES_TEXT_SIZE = 160 };

struct postgres_answer {
    bool has_row;
    bool is_null;   /* also without a row                              */
    bool is_true;   /* of POSTGRES_BOOL                                */
    int64_t number; /* of POSTGRES_INT4 and INT8                       */
    char text[POSTGRES_TEXT_SIZE]; /* of POSTGRES_TEXT; cut if it is long */
};

/* A statement and what may answer it.  $1 is the name of the lock (but for POSTGRES_RENEW_ALL), as
 * bytea: a name may hold bytes that no text may.  A statement without types is sent as it is. */
struct postgres_question {
    struct postgres_statement statement; /* its name is unique within a variant        */
    struct postgres_shape shape;         /* of its answer                              */
    bool may_wait; /* the statement may wait for a lock, up to the limit of
                    * postgres_limit_wait(), and can answer BUSY */
};

enum { POSTGRES_VALUES_MAX = 6 }; /* of one question */

/* Where the server is, and how long one statement, or connecting, may last. */
struct postgres_place {
    char *url;
    int timeout_ms;
    enum postgres_pooler pooler;
    size_t host; /* the index, from 0, of the URL's host that was connected to last */
};

/* Connect to a server that takes writes, unless the URL has other target_session_attrs:
 * until give_up_ns or for place->timeout_ms, whichever is first.  After OK *host is the
 * index of the URL's host.  OK; IO: no server answered in time, or the server is a
 * standby; PROTOCOL: the server refused; NOMEM. */
dlock_status postgres_connect(struct postgres_conn **out, const struct postgres_place *place,
                              int64_t give_up_ns, size_t *host);

/* Close the connection: the server rolls back, and frees the locks of the session.
 * NULL is fine. */
void postgres_hang_up(struct postgres_conn *conn);

/* Ask, and wait for the answer, until give_up_ns or for the command timeout, whichever is
 * first.
 *   OK        *out (which may be NULL) is the answer
 *   BUSY      the server answered that another session has the lock (lock_timeout,
 *             NOWAIT)
 *   UNKNOWN   no answer came, so the statement may have run; or the server committed
 *             without its synchronous standby, so the commit may be lost.  The
 *             connection is broken
 *   IO        the statement has certainly no effect: it could not be sent; or the
 *             server cancelled it, lacked resources for it or rolled it back; or the
 *             server takes no writes any more, and then the connection is broken
 *   PROTOCOL  the server refused the statement; or the statement cannot have this
 *             answer: then it may have run, and the connection is broken */
dlock_status postgres_ask(struct postgres_conn *conn,
                          const struct postgres_question *question,
                          const char *const *values, int64_t give_up_ns,
                          struct postgres_answer *out);

/* Let the following statements wait in the server for locks until `until_ns`, but each
 * no longer than half the command timeout.  A statement that has waited so long answers
 * BUSY. */
dlock_status postgres_limit_wait(struct postgres_conn *conn, int64_t until_ns,
                                 int64_t give_up_ns);

/* Has the server closed the connection?  No I/O. The server sends nothing on an idle
 * connection, so a connection that can be read was closed or is about to be. */
bool postgres_is_gone(const struct postgres_conn *conn);

/* Is a transaction open?  A broken connection has none. */
bool postgres_is_in_transaction(const struct postgres_conn *conn);

/* The process number of the server process at the other end. */
int postgres_backend_pid(const struct postgres_conn *conn);

#endif /* DLOCK_POSTGRES_QUESTION_H */
