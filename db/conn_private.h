/* SPDX-License-Identifier: MIT */
/* conn_private.h -- what connect.c, message.c, pool.c, rows.c and run.c share; nobody else includes it. */
#ifndef DB_CONN_PRIVATE_H
#define DB_CONN_PRIVATE_H

#include <libpq-fe.h>

#include "db/conn.h"

enum {
    PREPARED_MAX = 64,
    ERROR_MAX = 512,
};

struct queued {
    const struct db_statement *statement;
    struct db_value kept[DB_PARAM_MAX];
};

struct db_conn {
    PGconn *pg;
    char *url;
    char *application_name;
    struct db_options opts;
    const struct db_statement *prepared[PREPARED_MAX];
    size_t prepared_count;
    struct queued queue[DB_BATCH_MAX];
    size_t queue_count;
    PGresult *results[DB_BATCH_MAX];
    size_t result_count; /* statements of the last run */
    size_t succeeded;
    int64_t next_try_ns;
    int64_t backoff_ms;
    bool fell_silent; /* it was lost because the server did not answer in time */
    char error[ERROR_MAX];
    char constraint[64];
    char state[6]; /* SQLSTATE */
};

/* Free the results of the last run. */
void db_clear_results(struct db_conn *db);

/* Keep what libpq or the server said, as one line. */
void db_note_error(struct db_conn *db, const char *text);

/* Note the error and hang up.  Answers DB_LOST. */
enum db_status db_lose(struct db_conn *db, const char *text);

/* The same after waiting for the server: libpq's words if it has some, and if `is_late` that
 * it did not answer within `allowed_ms`. */
enum db_status db_lose_silent(struct db_conn *db, bool is_late, int64_t allowed_ms);

/* Add to `out` the lines of `text` as one: "a\n\tb." as "a; b.".  The SQLSTATEs and places
 * in the server's source that libpq's verbose messages have are left out. */
void db_fold(char *out, size_t size, const char *text);

/* The first SQLSTATE in a verbose message of libpq; "" if there is none. */
void db_find_state(char state[6], const char *text);

/* Is a connection between two runs broken, or about to be? */
bool db_is_stale(const struct db_conn *db);

/* Wait until the socket is ready for `events`.  False: the deadline passed. */
bool db_wait_socket(int fd, short events, int64_t deadline_ns);

#endif /* DB_CONN_PRIVATE_H */
