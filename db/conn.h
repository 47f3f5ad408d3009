/* SPDX-License-Identifier: MIT */
/* conn.h -- a connection to PostgreSQL that looks after itself.
 *
 * Statements are described once, as constants, and prepared the first time a connection
 * meets them.  A caller queues one or more and runs them in one round trip:
 *
 *     static const struct postgres_statement FIND = {
 *         "voucher_find", "SELECT title FROM tb_voucher WHERE id = $1", "i"};
 *
 *     db_queue(db, &FIND, DB_VALUES(DB_INT(id)));
 *     if (db_run(db) == DB_OK && db_rows(db, 0) == 1)
 *         puts(db_text(db, 0, 0, 0));
 *
 * Ownership   db_new() makes a connection object that the caller must db_free().
 * Threads     One thread at a time; every worker thread has its own.
 * Time        A run lasts at most the statement timeout and half a second, and where it
 *             must connect the connect timeout: a server that keeps silent is given up
 *             like one that hung up.
 * Loss        A lost connection is opened again by the next db_run(), at most once per
 *             back-off (20 ms, doubling to 1 s); until then it answers LOST at once.
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
    DB_TIMEOUT,  /* the server gave up: statement or lock timeout */
    DB_UNABLE,   /* the server cannot just now: no room on its disk or in its memory, or it
                  * is read-only; nothing happened, try again.  After "read-only", and
                  * where a prepared statement was missing, the connection is closed, so
                  * that the next one is to a server that fits */
    DB_LOST,     /* no connection, or it broke: what was sent may or may not count.  The
                  * same after a COMMIT that the server no longer waits for its
                  * synchronous standby with */
    DB_ERROR,    /* the server refused; db_error() says why */
};

enum {
    DB_BATCH_MAX = 8, /* statements in one run */
};

struct db_conn; /* opaque */

struct db_options {
    const char *url;              /* postgresql://... */
    const char *application_name; /* what pg_stat_activity shows; may be NULL */
    enum postgres_pooler pooler;  /* what stands before the server */
    int connect_timeout_ms;       /* for one attempt, at all hosts of the URL together */
    int statement_timeout_ms;     /* waiting for a row's lock has 80 % of it */
    int idle_timeout_ms;          /* how long a transaction may wait for its client */
    bool commits_lazily;          /* a COMMIT is answered before it is on disk: a crash
                                   * may lose what was answered */
};

/* The value of one parameter.  A text is read until db_run() returns; NULL is NULL. */
#define DB_INT(v) {(v), NULL, false}
#define DB_TEXT(s) {0, (s), false}
#define DB_NULL {0, NULL, true}
#define DB_VALUES(...) ((const struct postgres_value[]){__VA_ARGS__})

/* No pooler, connect timeout 2 s, statements 5 s, idle transactions 60 s. */
struct db_options db_options_default(const char *url);

/* A connection that is not connected yet; strings are copied.  NULL: no memory. */
struct db_conn *db_new(const struct db_options *opts);

/* Hang up (which rolls an open transaction back) and free.  NULL is fine. */
void db_free(struct db_conn *db);

/* Connect if it is not connected: of several hosts in the URL, to the one that was the right
 * one last, or else to the first in the URL's order that takes writes (or that fits its
 * target_session_attrs).  Regards the back-off like every run.
 *   OK, LOST (db_error() says who did not answer, and what was said) */
enum db_status db_connect(struct db_conn *db);

/* After a connect that answered LOST: did the server refuse for a reason that waiting does
 * not mend, such as a wrong password or a database that is not there? */
bool db_is_refused(const struct db_conn *db);

/* Is it one URL, and can libpq read it?  If not, `why` says what is wrong, without a password
 * from it. */
bool db_url_is_valid(const char *url, char *why, size_t size);

/* Hang up now.  The next run connects again, without a back-off. */
void db_disconnect(struct db_conn *db);

/* Break the connection as the network would: this end finds out in its next run, which
 * answers LOST, and the server at once, which rolls back what is open.  Nothing happens
 * if there is no connection. */
void db_break(struct db_conn *db);

/* Add a statement to the next run.  At most DB_BATCH_MAX. */
void db_queue(struct db_conn *db, const struct postgres_statement *statement,
              const struct postgres_value *values);

/* Send what was queued, wait for every answer.  Statements after one that failed are
 * not executed.
 *   OK         all of them succeeded
 *   otherwise  the status of the first that failed; in an open transaction only ROLLBACK
 *              is left to do (after LOST: nothing)
 * Results stay readable until the next db_queue() or db_run(). */
enum db_status db_run(struct db_conn *db);

/* queue and run one. */
enum db_status db_run_one(struct db_conn *db, const struct postgres_statement *statement,
                          const struct postgres_value *values);

/* Run a script of several statements that has no parameters, such as the schema. */
enum db_status db_script(struct db_conn *db, const char *script);

/* The result of the `i`th statement of the last run.  Row and column count from 0.
 * A NULL or a column that is not there reads as 0, "" and true. */
size_t db_rows(const struct db_conn *db, size_t i);
int64_t db_int(const struct db_conn *db, size_t i, size_t row, int column);
const char *db_text(const struct db_conn *db, size_t i, size_t row, int column);
bool db_is_null(const struct db_conn *db, size_t i, size_t row, int column);

/* Is a transaction open, as far as this end knows? */
bool db_in_transaction(const struct db_conn *db);

/* The server process at the other end, as it was named when the connection was opened; 0
 * when there is none.  A pooler names none of the server's. */
int db_backend_pid(const struct db_conn *db);

/* Detail of the last failure, "" if none; valid until the next call. */
const char *db_error(const struct db_conn *db);
/* The constraint that DB_UNIQUE was about. */
const char *db_constraint(const struct db_conn *db);
/* The SQLSTATE of the last run's failure, "" if the server did not say one. */
const char *db_state(const struct db_conn *db);

const char *db_status_name(enum db_status status);

#endif /* DB_CONN_H */
