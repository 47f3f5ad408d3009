/* SPDX-License-Identifier: MIT */
/* conn.h -- a connection to PostgreSQL that prepares its statements and reconnects by
 * itself.
 *
 * Statements are constants.  A connection prepares a statement when it first runs it.
 * A caller queues one or more and runs them in one round trip:
 *
 *     static const struct postgres_statement FIND = {
 *         "voucher_find", "SELECT title FROM tb_voucher WHERE id = $1", "i"};
 *
 *     db_queue(db, &FIND, DB_VALUES(DB_INT(id)));
 *     if (db_run(db) == DB_OK && db_rows(db, 0) == 1)
 *         puts(db_text(db, 0, 0, 0));
 *
 * Ownership   db_new() makes a connection object, and the caller frees it with
 *             db_free().
 * Threads     One thread at a time; every worker thread has its own.
 * Time        A run lasts at most the statement timeout and half a second, and the
 *             connect timeout if it has to connect.  If the server does not answer in
 *             that time, the connection counts as lost.
 * Loss        The next db_run() opens a lost connection again, at most once per
 *             back-off (20 ms, doubling to 1 s).  Before the back-off has passed,
 *             db_run() answers LOST at once.
 */
#ifndef DB_CONN_H
#define DB_CONN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/postgres/connection.h"

enum db_status {
    DB_OK,
    DB_UNIQUE,   /* a unique constraint refused; db_constraint() names it */
    DB_CONFLICT, /* serialization failure or deadlock: nothing happened, try again */
    DB_TIMEOUT,  /* the server ended the statement: statement or lock timeout */
    DB_UNABLE,   /* the server cannot run it now: no space on disk, no memory, or
                  * read-only; nothing happened, try again.  After "read-only", or if a
                  * prepared statement was missing, the connection is closed, so that
                  * the next run connects to a fitting server */
    DB_LOST,     /* no connection, or it broke: the statements that were sent may or may
                  * not have taken effect.  Also after a COMMIT for which the server
                  * stopped waiting for its synchronous standby */
    DB_ERROR,    /* the server refused; db_error() says why */
};

enum {
    DB_BATCH_MAX = 8, /* statements in one run */
    DB_MARKS = 0x7365636b, /* the class of the advisory locks of marks */
};

struct db_conn; /* opaque */

struct db_options {
    const char *url;              /* postgresql://... */
    const char *application_name; /* what pg_stat_activity shows; may be NULL */
    enum postgres_pooler pooler;  /* the pooler before the server */
    int connect_timeout_ms;       /* for one attempt, at all hosts of the URL together */
    int statement_timeout_ms;     /* of this, a wait for a row's lock gets 80 % */
    int idle_timeout_ms;          /* the server ends a transaction that is idle for so
                                   * long                                           */
    int mark;                     /* of a session: the advisory lock (DB_MARKS, mark); 0: none */
    int mark_binds;               /* no session is opened beside one of another mark, if this bit
                                   * is in one of both; 0: it is not looked for        */
    bool commits_lazily;          /* a COMMIT is answered before it is on disk, so a
                                   * crash of the server may lose confirmed commits;
                                   * has no effect with a pooler */
};

/* The value of one parameter.  A text is read until db_run() returns; NULL is NULL. */
#define DB_INT(v) {(v), NULL, false}
#define DB_TEXT(s) {0, (s), false}
#define DB_NULL {0, NULL, true}
#define DB_VALUES(...) ((const struct postgres_value[]){__VA_ARGS__})

/* No pooler, connect timeout 2 s, statements 5 s, idle transactions 60 s. */
struct db_options db_options_default(const char *url);

/* Make a connection object, without connecting.  Strings are copied.  NULL: no
 * memory. */
struct db_conn *db_new(const struct db_options *opts);

/* Close the connection, so that the server rolls back an open transaction, and free the
 * object.  NULL is fine. */
void db_free(struct db_conn *db);

/* Connect if there is no connection.  Of several hosts in the URL, the host of the last
 * connection is tried first.  Then the first host is taken, in the URL's order, that
 * accepts writes, or that fits the URL's target_session_attrs.  The back-off holds here
 * too.
 *   OK, LOST (db_error() names the server and the reason) */
enum db_status db_connect(struct db_conn *db);

/* The same, with a second for the sessions of a service that has ended (opts.mark_binds).
 *   ERROR  a service sells here with other settings; db_error() is one clause that names it */
enum db_status db_connect_alone(struct db_conn *db);

/* After a connect that answered LOST: did the server refuse for a lasting reason, such
 * as a wrong password or a missing database? */
bool db_is_refused(const struct db_conn *db);

/* Is `url` one URL that libpq can parse?  If not, `why` says what is wrong, without the
 * password. */
bool db_url_is_valid(const char *url, char *why, size_t size);

/* Close the connection now.  The next run connects again, without a back-off. */
void db_disconnect(struct db_conn *db);

/* Break the connection as the network would.  The server notices at once, and rolls
 * back an open transaction; this end notices in its next run, which answers LOST.
 * Without a connection the call does nothing. */
void db_break(struct db_conn *db);

/* Add a statement to the next run.  More than DB_BATCH_MAX statements, or more values
 * than a statement may have, are a mistake of the program: the call aborts. */
void db_queue(struct db_conn *db, const struct postgres_statement *statement,
              const struct postgres_value *values);

/* Send the queued statements and wait for every answer.  Statements after a failed one
 * are not executed.
 *   OK         all of them succeeded
 *   otherwise  the status of the first statement that failed.  In an open transaction
 *              the server then accepts only ROLLBACK; after LOST there is no
 *              transaction any more
 * Results stay readable until the next db_queue() or db_run(). */
enum db_status db_run(struct db_conn *db);

/* Queue one statement and run it.  Answers as db_run(). */
enum db_status db_run_one(struct db_conn *db, const struct postgres_statement *statement,
                          const struct postgres_value *values);

/* Run a script of several statements that has no parameters, such as the schema.
 * Answers as db_run(), but without its time limit: only the server's statement timeout
 * ends a statement, so the call waits as long as a silent server. */
enum db_status db_script(struct db_conn *db, const char *script);

/* The result of the `i`th statement of the last run.  Row and column count from 0.
 * For a NULL, or a row or column that does not exist, the functions return 0, "" and
 * true. */
size_t db_rows(const struct db_conn *db, size_t i);
int64_t db_int(const struct db_conn *db, size_t i, size_t row, int column);
const char *db_text(const struct db_conn *db, size_t i, size_t row, int column);
bool db_is_null(const struct db_conn *db, size_t i, size_t row, int column);

/* Is a transaction open, by the last answer of the server? */
bool db_in_transaction(const struct db_conn *db);

/* The process number of the server process of the connection; 0: no connection.  Behind
 * a pooler it is a number of the pooler's. */
int db_backend_pid(const struct db_conn *db);

/* The reason of the last failure, "" if none; valid until the next call. */
const char *db_error(const struct db_conn *db);
/* The constraint that refused, after DB_UNIQUE. */
const char *db_constraint(const struct db_conn *db);
/* The SQLSTATE of the last run's failure; "": the server sent none. */
const char *db_state(const struct db_conn *db);

const char *db_status_name(enum db_status status);

#endif /* DB_CONN_H */
