/* SPDX-License-Identifier: MIT */
/* conn_private.h -- what connect.c, limits.c, pool.c, rows.c and run.c share; nobody else includes it. */
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
    size_t host;      /* of the URL's hosts, the first to be tried */
    bool fell_silent; /* it was lost because the server did not answer in time */
    bool was_demoted; /* it was closed because the server takes no writes any more */
    char error[ERROR_MAX];
    char constraint[64];
    char state[POSTGRES_STATE_SIZE];
};

/* Free the results of the last run. */
void db_clear_results(struct db_conn *db);

/* Keep `text` as the error and hang up.  Answers DB_LOST. */
enum db_status db_lose(struct db_conn *db, const char *text);

/* Keep what the server said when it refused. */
void db_keep_refusal(struct db_conn *db, const struct postgres_result *result);

/* Keep what libpq or the server said and hang up.  Answers DB_LOST. */
enum db_status db_lose_talk(struct db_conn *db);

/* The same after waiting for the server, who if `is_late` did not answer within
 * `allowed_ms`. */
enum db_status db_lose_silent(struct db_conn *db, bool is_late, int64_t allowed_ms);

/* ---- limits.c: the timeouts of a session, or of a transaction behind a pooler ---- */

enum { DB_SETTINGS_MAX = 256 };

/* Write them as a session gets them when it is opened.  NULL: a pooler takes none. */
const char *db_limits_at_start(const struct db_conn *db, char out[DB_SETTINGS_MAX]);

/* Give them to the session that was opened, where a pooler took none.  False: it broke, or
 * the deadline passed. */
bool db_limits_set(struct db_conn *db, int64_t deadline_ns);

/* Put the statement that gives them to the transaction that begins with the next statement,
 * where each transaction has a session of its own.  *is_put: it has an answer of its own to
 * be read.  False: the wire broke. */
bool db_limits_put(struct db_conn *db, bool *is_put);

/* Is a connection between two runs broken, or about to be? */
bool db_is_stale(const struct db_conn *db);

#endif /* DB_CONN_PRIVATE_H */
