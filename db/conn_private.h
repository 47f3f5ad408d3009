/* SPDX-License-Identifier: MIT */
/* conn_private.h -- the struct of a connection.  Only for connect.c, limits.c, pool.c,
 * rows.c and run.c. */
#ifndef DB_CONN_PRIVATE_H
#define DB_CONN_PRIVATE_H

#include "base/postgres/connection.h"
#include "db/conn.h"

enum { ERROR_MAX = 512 };

struct queued {
    const struct postgres_statement *statement;
    struct postgres_value kept[POSTGRES_PARAMETERS_MAX];
};

struct db_conn {
    struct postgres_connection *open; /* NULL: not connected */
    char *url;
    char *application_name;
    struct db_options opts;
    struct queued queue[DB_BATCH_MAX];
    size_t queue_count;
    struct postgres_result *results[DB_BATCH_MAX];
    size_t result_count; /* statements of the last run */
    int64_t next_try_ns;
    int64_t backoff_ms;
    size_t host;      /* the index of the URL's host to try first */
    bool fell_silent; /* the connection was lost because the server did not answer in
                       * time */
    bool was_demoted; /* the connection was closed because the server takes no writes
                       * any more */
    char error[ERROR_MAX];
    char constraint[64];
    char state[POSTGRES_STATE_SIZE];
};

/* Free the results of the last run. */
void db_clear_results(struct db_conn *db);

/* Keep `text` as the error and close the connection.  Returns DB_LOST. */
enum db_status db_lose(struct db_conn *db, const char *text);

/* Keep the server's error, constraint and SQLSTATE from a refusal. */
void db_keep_refusal(struct db_conn *db, const struct postgres_result *result);

/* Keep the last message of libpq or the server as the error, and close the connection.
 * Returns DB_LOST. */
enum db_status db_lose_talk(struct db_conn *db);

/* The same after a wait.  `is_late`: the server did not answer within `allowed_ms`, and
 * the error says so. */
enum db_status db_lose_silent(struct db_conn *db, bool is_late, int64_t allowed_ms);

/* ---- limits.c: the timeouts of a session, or of a transaction behind a pooler ---- */

enum { DB_SETTINGS_MAX = 400 };

/* Write the timeouts as the settings for opening a session.  NULL: the pooler accepts
 * no settings. */
const char *db_limits_at_start(const struct db_conn *db, char out[DB_SETTINGS_MAX]);

/* Set the timeouts in the open session, if the pooler accepted no settings, and the mark.
 * False: the connection broke, the deadline passed, or the server refused, as db->state says. */
bool db_limits_set(struct db_conn *db, int64_t deadline_ns);

/* Behind a pooler of transactions, put the statement that sets the timeouts for the
 * transaction that begins with the next statement.  *is_put: a statement was put, and
 * its answer has to be read.  False: the wire broke. */
bool db_limits_put(struct db_conn *db, bool *is_put);

/* Is a connection between two runs broken, or about to be? */
bool db_is_stale(const struct db_conn *db);

#endif /* DB_CONN_PRIVATE_H */
