/* SPDX-License-Identifier: MIT */
/* conn_private.h -- what connect.c, pool.c, rows.c and run.c share; nobody else includes it. */
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
    bool fell_silent; /* it was lost because the server did not answer in time */
    char error[ERROR_MAX];
    char constraint[64];
    char state[POSTGRES_STATE_SIZE];
};

/* Free the results of the last run. */
void db_clear_results(struct db_conn *db);

/* Keep `text` as the error and hang up.  Answers DB_LOST. */
enum db_status db_lose(struct db_conn *db, const char *text);

/* Keep what libpq or the server said and hang up.  Answers DB_LOST. */
enum db_status db_lose_talk(struct db_conn *db);

/* The same after waiting for the server, who if `is_late` did not answer within
 * `allowed_ms`. */
enum db_status db_lose_silent(struct db_conn *db, bool is_late, int64_t allowed_ms);

/* Is a connection between two runs broken, or about to be? */
bool db_is_stale(const struct db_conn *db);

#endif /* DB_CONN_PRIVATE_H */
