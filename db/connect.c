/* SPDX-License-Identifier: MIT */
/* connect.c -- the life of a connection to PostgreSQL: open, lose, open again.
 *
 * Invariant: a connection on which anything went wrong below SQL is closed at once.  No
 * later statement can then read the answer of an earlier one.
 */
#include "db/conn.h"

#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include "base/text/duration.h"
#include "db/conn_private.h"

enum {
    BACKOFF_FIRST_MS = 20,
    BACKOFF_LAST_MS = 1000,
};

struct db_options db_options_default(const char *url)
{
    return (struct db_options){
        .url = url,
        .connect_timeout_ms = 2000,
        .statement_timeout_ms = 5000,
        .idle_timeout_ms = 60000,
    };
}

struct db_conn *db_new(const struct db_options *opts)
{
    struct db_conn *db = calloc(1, sizeof(*db));

    if (db == NULL)
        return NULL;
    db->opts = *opts;
    db->url = strdup(opts->url);
    db->application_name =
        strdup(opts->application_name != NULL ? opts->application_name : "seckill");
    if (db->url == NULL || db->application_name == NULL) {
        db_free(db);
        return NULL;
    }
    return db;
}

void db_disconnect(struct db_conn *db)
{
    if (db->pg != NULL)
        PQfinish(db->pg);
    db->pg = NULL;
    db->prepared_count = 0;
}

void db_break(struct db_conn *db)
{
    if (db->pg != NULL)
        (void)shutdown(PQsocket(db->pg), SHUT_RDWR);
}

void db_free(struct db_conn *db)
{
    if (db == NULL)
        return;
    db_clear_results(db);
    db_disconnect(db);
    free(db->application_name);
    free(db->url);
    free(db);
}

void db_note_error(struct db_conn *db, const char *text)
{
    db->error[0] = '\0';
    db_fold(db->error, sizeof(db->error), text);
}

enum db_status db_lose(struct db_conn *db, const char *text)
{
    db_note_error(db, text);
    db_disconnect(db);
    return DB_LOST;
}

enum db_status db_lose_silent(struct db_conn *db, bool is_late, int64_t allowed_ms)
{
    static const char UNFINISHED[] = ":"; /* libpq had only begun its sentence */
    char late[64];
    size_t n;

    db_note_error(db, PQerrorMessage(db->pg));
    n = strlen(db->error);
    db->fell_silent = is_late;
    (void)snprintf(late, sizeof(late), "the server did not answer within %lld ms",
                   (long long)allowed_ms);
    if (n == 0 || db->error[n - 1] == UNFINISHED[0])
        (void)snprintf(db->error + n, sizeof(db->error) - n, "%s%s", n > 0 ? " " : "",
                       is_late ? late : "the connection broke");
    db_disconnect(db);
    return DB_LOST;
}

/* Wait until the socket is ready.  False: the deadline passed. */
bool db_wait_socket(int fd, short events, int64_t deadline_ns)
{
    for (;;) {
        struct pollfd p = {.fd = fd, .events = events, .revents = 0};
        int64_t left_ms = (deadline_ns - monotonic_ns() + 999999) / 1000000;

        if (left_ms < 0)
            left_ms = 0;
        if (poll(&p, 1, (int)left_ms) > 0)
            return true;
        if (monotonic_ns() >= deadline_ns)
            return false;
    }
}

static PGconn *start_connecting(const struct db_conn *db)
{
    char guc[256];
    const char *keys[] = {"dbname",           "application_name",    "options",
                          "keepalives_idle",  "keepalives_interval", "keepalives_count",
                          "tcp_user_timeout", "gssencmode",          NULL};
    const char *values[] = {db->url, db->application_name, guc,       "5", "2",
                            "3",     "10000",              "disable", NULL};

    (void)snprintf(guc, sizeof(guc),
                   "-c statement_timeout=%d -c lock_timeout=%d"
                   " -c idle_in_transaction_session_timeout=%d -c TimeZone=UTC%s",
                   db->opts.statement_timeout_ms,
                   db->opts.statement_timeout_ms - db->opts.statement_timeout_ms / 5,
                   db->opts.idle_timeout_ms,
                   db->opts.commits_lazily ? " -c synchronous_commit=off" : "");
    return PQconnectStartParams(keys, values, 1);
}

/* Drive a connection attempt to its end; false when it failed, or took too long. */
static bool finish_connecting(PGconn *pg, int64_t deadline_ns, bool *is_late)
{
    PostgresPollingStatusType want = PGRES_POLLING_WRITING;

    while (want != PGRES_POLLING_OK) {
        if (want == PGRES_POLLING_FAILED)
            return false;
        if (!db_wait_socket(PQsocket(pg),
                            want == PGRES_POLLING_READING ? POLLIN : POLLOUT,
                            deadline_ns)) {
            *is_late = true;
            return false;
        }
        want = PQconnectPoll(pg);
    }
    return true;
}

static void back_off(struct db_conn *db)
{
    db->backoff_ms = db->backoff_ms == 0 ? BACKOFF_FIRST_MS : db->backoff_ms * 2;
    if (db->backoff_ms > BACKOFF_LAST_MS)
        db->backoff_ms = BACKOFF_LAST_MS;
    db->next_try_ns = monotonic_ns() + db->backoff_ms * 1000000;
}

/* Warnings and notices would go to stderr, past the log. */
static void drop_notice(void *arg, const PGresult *result)
{
    (void)arg;
    (void)result;
}

static enum db_status connect_now(struct db_conn *db)
{
    int64_t deadline_ns =
        monotonic_ns() + (int64_t)db->opts.connect_timeout_ms * 1000000;
    bool is_late = false;

    db->state[0] = '\0';
    db->pg = start_connecting(db);
    if (db->pg == NULL)
        return db_lose(db, "out of memory");
    (void)PQsetNoticeReceiver(db->pg, drop_notice, NULL);
    /* Only so is the SQLSTATE of a refused connection to be had from libpq. */
    (void)PQsetErrorVerbosity(db->pg, PQERRORS_VERBOSE);
    if (PQstatus(db->pg) == CONNECTION_BAD ||
        !finish_connecting(db->pg, deadline_ns, &is_late)) {
        back_off(db);
        db_find_state(db->state, PQerrorMessage(db->pg));
        return db_lose_silent(db, is_late, db->opts.connect_timeout_ms);
    }
    db->backoff_ms = 0;
    db->next_try_ns = 0;
    db->fell_silent = false;
    (void)PQsetErrorVerbosity(db->pg, PQERRORS_DEFAULT);
    if (PQenterPipelineMode(db->pg) != 1)
        return db_lose(db, PQerrorMessage(db->pg));
    return DB_OK;
}

/* An idle connection has nothing to say, so one that can be read has been hung up on,
 * or is about to be.  Finding that out here, before anything is sent, is what makes a
 * restarted server cost nobody an order. */
bool db_is_stale(const struct db_conn *db)
{
    struct pollfd p = {.fd = PQsocket(db->pg), .events = POLLIN, .revents = 0};

    return PQstatus(db->pg) != CONNECTION_OK ||
           (PQtransactionStatus(db->pg) == PQTRANS_IDLE && poll(&p, 1, 0) > 0);
}

enum db_status db_connect(struct db_conn *db)
{
    if (db->pg != NULL && !db_is_stale(db))
        return DB_OK;
    if (db->pg != NULL && PQtransactionStatus(db->pg) != PQTRANS_IDLE)
        return db_lose(db, "the connection broke inside a transaction");
    db_disconnect(db);
    if (monotonic_ns() < db->next_try_ns)
        return DB_LOST;
    return connect_now(db);
}
