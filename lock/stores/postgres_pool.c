/* SPDX-License-Identifier: MIT */
/* postgres_pool.c -- the lock library's connections to PostgreSQL. */
#include "lock/stores/postgres_pool.h"

#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/os/clock.h"
#include "base/os/mutex.h"
#include "base/postgres/wire.h"
#include "lock/info.h"

enum {
    BACKOFF_FIRST_MS = 20,
    BACKOFF_LAST_MS = 1000,
    IDLE_MAX = 64, /* kept open; more are closed when they are given back */
};

struct postgres_pool {
    struct postgres_place place; /* its host is under the mutex */
    _Atomic int64_t reap_at_ns;
    struct dlock_mutex mutex; /* protects what follows */
    struct postgres_conn *idle[IDLE_MAX];
    size_t idle_count;
    int64_t next_try_ns;
    int64_t backoff_ms;
    dlock_status last_failure;
    char last_error[256];
};

static const struct postgres_question CHECK_TABLES = {
    .statement.sql =
        "SELECT to_regclass('dlock_lock') IS NOT NULL AND"
        " to_regclass('dlock_row') IS NOT NULL AND to_regclass('dlock_queue') IS NOT NULL"
        " AND to_regproc('dlock_queue_try') IS NOT NULL",
    .shape = {.kind = POSTGRES_BOOL}};
static const struct postgres_question WHICH_SESSION = {
    .statement.sql =
        "SELECT pg_backend_pid()",
    .shape = {.kind = POSTGRES_INT4, .least = 1, .most = INT32_MAX}};

static dlock_status check_url(const dlock_options *opts)
{
    const char *url = opts->database_url;
    char why[256];

    if (url == NULL || url[0] == '\0')
        return dlock_fail(DLOCK_INVALID, "this lock needs the URL of a PostgreSQL");
    if (strncmp(url, "postgresql://", 13) != 0 && strncmp(url, "postgres://", 11) != 0)
        return dlock_fail(DLOCK_INVALID, "the URL of the database does not begin with "
                                         "postgresql://");
    if (!postgres_url_is_valid(url, why, sizeof(why)))
        return dlock_fail(DLOCK_INVALID, "the URL of the database, %s", why);
    return DLOCK_OK;
}

static dlock_status read_pooler(const dlock_options *opts, enum postgres_pooler *out)
{
    const char *name = opts->database_pooler;

    *out = POSTGRES_POOLER_NONE;
    if (name == NULL || postgres_pooler_read(name, out))
        return DLOCK_OK;
    return dlock_fail(DLOCK_INVALID, "the pooler must be none, session or transaction, "
                                     "not \"%.40s\"", name);
}

/* Ask for the number of the session that a connection has now. */
static dlock_status ask_session(struct postgres_conn *conn, int64_t *pid)
{
    struct postgres_answer answer = {0};
    dlock_status st = postgres_ask(conn, &WHICH_SESSION, NULL, INT64_MAX, &answer);

    *pid = answer.number;
    return st;
}

/* Refuse if two open connections get the same session, because then the pooler shares
 * sessions.  The two change nothing in the session. */
static dlock_status check_sessions(const struct postgres_pool *pool)
{
    struct postgres_place careful = pool->place;
    struct postgres_conn *one = NULL, *other = NULL;
    int64_t pid = 0, other_pid = 0;
    dlock_status st;
    size_t host;

    if (pool->place.pooler != POSTGRES_POOLER_SESSION)
        return DLOCK_OK;
    careful.pooler = POSTGRES_POOLER_TRANSACTION;
    st = postgres_connect(&one, &careful, INT64_MAX, &host);
    if (st == DLOCK_OK)
        st = ask_session(one, &pid);
    if (st == DLOCK_OK)
        st = postgres_connect(&other, &careful, INT64_MAX, &host);
    if (st == DLOCK_OK)
        st = ask_session(other, &other_pid);
    if (st == DLOCK_OK && pid == other_pid)
        st = dlock_fail(DLOCK_PROTOCOL, "two connections were given one session, so the "
                                        "pooler does not keep a session for each "
                                        "connection: set its pool_mode to session, or "
                                        "database_pooler to transaction");
    postgres_hang_up(other);
    postgres_hang_up(one);
    return st;
}

/* Refuse if the session of a connection is not the one that the server named in the
 * opening, because then there is a pooler. */
static dlock_status check_session(const struct postgres_pool *pool, struct postgres_conn *conn)
{
    int64_t pid = 0;
    dlock_status st = ask_session(conn, &pid);

    if (st != DLOCK_OK || pool->place.pooler != POSTGRES_POOLER_NONE ||
        pid == postgres_backend_pid(conn))
        return st;
    return dlock_fail(DLOCK_PROTOCOL, "there is a pooler in front of PostgreSQL: set "
                                      "database_pooler (--database-pooler) to session or "
                                      "transaction, as its pool_mode is");
}

static dlock_status check_server(struct postgres_pool *pool)
{
    struct postgres_conn *conn = NULL;
    struct postgres_answer answer = {0};
    dlock_status st = check_sessions(pool);

    if (st == DLOCK_OK)
        st = postgres_take(pool, INT64_MAX, &conn);
    if (st == DLOCK_OK)
        st = check_session(pool, conn);
    if (st == DLOCK_OK)
        st = postgres_ask(conn, &CHECK_TABLES, NULL, INT64_MAX, &answer);
    if (st == DLOCK_OK && !answer.is_true)
        st = dlock_fail(DLOCK_PROTOCOL, "the lock tables are missing: run "
                                        "lock/stores/postgres.sql as the database's "
                                        "owner");
    if (conn != NULL)
        postgres_give(pool, conn);
    return st == DLOCK_UNKNOWN ? DLOCK_IO : st;
}

dlock_status postgres_pool_open(struct postgres_pool **out, const dlock_options *opts)
{
    struct postgres_pool *pool;
    enum postgres_pooler pooler = POSTGRES_POOLER_NONE;
    dlock_status st = check_url(opts);

    *out = NULL;
    if (st == DLOCK_OK)
        st = read_pooler(opts, &pooler);
    if (st != DLOCK_OK)
        return st;
    pool = calloc(1, sizeof(*pool));
    if (pool == NULL)
        return dlock_fail(DLOCK_NOMEM, "no memory for the connections");
    dlock_mutex_init(&pool->mutex);
    pool->place.timeout_ms = opts->database_timeout_ms;
    pool->place.pooler = pooler;
    pool->place.url = strdup(opts->database_url);
    st = pool->place.url != NULL ? check_server(pool)
                           : dlock_fail(DLOCK_NOMEM, "no memory for the URL");
    if (st != DLOCK_OK) {
        postgres_pool_close(pool);
        return st;
    }
    *out = pool;
    return DLOCK_OK;
}

enum postgres_pooler postgres_pool_pooler(const struct postgres_pool *pool)
{
    return pool->place.pooler;
}

void postgres_pool_close(struct postgres_pool *pool)
{
    if (pool == NULL)
        return;
    while (pool->idle_count > 0)
        postgres_hang_up(pool->idle[--pool->idle_count]);
    dlock_mutex_destroy(&pool->mutex);
    free(pool->place.url);
    free(pool);
}

/* Take an idle connection; NULL: there is none.  *place: the server for a new one.  A
 * failure: the last attempt to connect failed so, and the pause after it has not
 * passed. */
static dlock_status take_idle(struct postgres_pool *pool, struct postgres_conn **out,
                              struct postgres_place *place)
{
    dlock_status st = DLOCK_OK;

    dlock_mutex_lock(&pool->mutex);
    *place = pool->place;
    if (pool->idle_count > 0)
        *out = pool->idle[--pool->idle_count];
    else if (dlock_clock_ns() < pool->next_try_ns)
        st = dlock_fail(pool->last_failure, "%s", pool->last_error);
    dlock_mutex_unlock(&pool->mutex);
    return st;
}

static void note_try(struct postgres_pool *pool, dlock_status st, size_t host)
{
    dlock_mutex_lock(&pool->mutex);
    if (st == DLOCK_OK) {
        pool->place.host = host;
        pool->backoff_ms = 0;
        pool->next_try_ns = 0;
    } else {
        pool->backoff_ms = pool->backoff_ms == 0 ? BACKOFF_FIRST_MS : pool->backoff_ms * 2;
        if (pool->backoff_ms > BACKOFF_LAST_MS)
            pool->backoff_ms = BACKOFF_LAST_MS;
        pool->next_try_ns = dlock_clock_after(dlock_clock_ns(), pool->backoff_ms);
        pool->last_failure = st;
        snprintf(pool->last_error, sizeof(pool->last_error), "%s", dlock_error());
    }
    dlock_mutex_unlock(&pool->mutex);
}

dlock_status postgres_take(struct postgres_pool *pool, int64_t give_up_ns,
                           struct postgres_conn **out)
{
    struct postgres_place place;
    size_t host = 0;
    dlock_status st;

    for (;;) {
        *out = NULL;
        st = take_idle(pool, out, &place);
        if (st != DLOCK_OK || *out == NULL)
            break;
        if (!postgres_is_gone(*out))
            return DLOCK_OK;
        postgres_hang_up(*out);
    }
    if (st != DLOCK_OK)
        return st;
    st = postgres_connect(out, &place, give_up_ns, &host);
    /* A server that did not answer before the caller gave up may answer the next. */
    if (st == DLOCK_OK || dlock_clock_ns() < give_up_ns)
        note_try(pool, st, host);
    return st;
}

void postgres_give(struct postgres_pool *pool, struct postgres_conn *conn)
{
    bool keep = !postgres_is_gone(conn) && !postgres_is_in_transaction(conn);

    dlock_mutex_lock(&pool->mutex);
    keep = keep && pool->idle_count < IDLE_MAX;
    if (keep)
        pool->idle[pool->idle_count++] = conn;
    dlock_mutex_unlock(&pool->mutex);
    if (!keep)
        postgres_hang_up(conn);
}

dlock_status postgres_pool_ask(struct postgres_pool *pool,
                               const struct postgres_question *question,
                               const char *const *values, int64_t give_up_ns,
                               struct postgres_answer *out)
{
    struct postgres_conn *conn = NULL;
    dlock_status st = postgres_take(pool, give_up_ns, &conn);

    if (st != DLOCK_OK)
        return st;
    st = postgres_ask(conn, question, values, give_up_ns, out);
    postgres_give(pool, conn);
    return st;
}

dlock_status postgres_ping(struct postgres_pool *pool)
{
    dlock_status st =
        postgres_pool_ask(pool, &WHICH_SESSION, NULL, INT64_MAX, NULL);

    return st == DLOCK_UNKNOWN ? DLOCK_IO : st;
}

/* The owner may have granted only the columns that the statements use. */
static const struct postgres_question RIGHTS = {
    {"rights",
     "SELECT string_agg(action, ', ') FROM (VALUES ('SELECT'), ('INSERT'), ('UPDATE'),"
     " ('DELETE'), ('EXECUTE')) AS need (action) WHERE NOT CASE action WHEN 'DELETE'"
     " THEN has_table_privilege($1::text, action) WHEN 'EXECUTE' THEN $1 <> 'dlock_queue' OR"
     " has_function_privilege('dlock_queue_try(bytea,text,text,integer,integer,boolean)', action)"
     " ELSE has_any_column_privilege($1::text, action) END",
     "t"},
    .shape = {.kind = POSTGRES_TEXT, .may_be_null = true}};

dlock_status postgres_check_rights(struct postgres_pool *pool, const char *table)
{
    struct postgres_answer answer = {.is_null = true};
    const char *values[] = {table};
    dlock_status st = postgres_pool_ask(pool, &RIGHTS, values, INT64_MAX, &answer);

    if (st == DLOCK_OK && !answer.is_null)
        return dlock_fail(DLOCK_PROTOCOL, "the user has no right to %s on the table %s%s",
                          answer.text, table,
                          strstr(answer.text, "EXECUTE") ? " and its function" : "");
    return st == DLOCK_UNKNOWN ? DLOCK_IO : st;
}

bool postgres_is_time_to_reap(struct postgres_pool *pool, int64_t every_ms)
{
    int64_t now_ns = dlock_clock_ns();
    int64_t at_ns = atomic_load(&pool->reap_at_ns);

    return now_ns >= at_ns &&
           atomic_compare_exchange_strong(&pool->reap_at_ns, &at_ns,
                                          dlock_clock_after(now_ns, every_ms));
}

dlock_status postgres_inspect(struct postgres_pool *pool,
                              const struct postgres_question *question,
                              const char *name, dlock_info *out)
{
    const char *values[] = {name};
    struct postgres_answer answer;
    dlock_status st = postgres_pool_ask(pool, question, values, INT64_MAX, &answer);

    if (st != DLOCK_OK || !answer.has_row)
        return st;
    if (!dlock_info_read(answer.text, out))
        return dlock_fail(DLOCK_PROTOCOL, "an inspect was answered \"%s\"", answer.text);
    return DLOCK_OK;
}

dlock_status postgres_force(struct postgres_pool *pool,
                            const struct postgres_question *question,
                            const char *name)
{
    const char *values[] = {name};
    struct postgres_answer answer;
    dlock_status st = postgres_pool_ask(pool, question, values, INT64_MAX, &answer);

    if (st != DLOCK_OK)
        return st;
    if (answer.number < 0)
        return dlock_fail(DLOCK_UNKNOWN, "the session that holds it has not ended yet");
    return answer.number > 0 ? DLOCK_OK : DLOCK_LOST;
}

/* ---- many renewals ---- */

/* Rows that other transactions have locked are waited for no longer than this, because
 * the other holds wait too. */
enum { LOCKED_MS = 100 };

/* The claims as the statement reads them; NULL: no memory.  The caller frees the text. */
static char *write_claims(const dlock_claim *claims, size_t count)
{
    char *text = NULL;
    size_t size;
    FILE *out = open_memstream(&text, &size);

    if (out == NULL)
        return NULL;
    for (size_t i = 0; i < count; i++) {
        for (const char *at = claims[i].name; *at != '\0'; at++)
            fprintf(out, "%02x", (unsigned)(unsigned char)*at);
        fprintf(out, " %s %s %d%s", claims[i].owner, claims[i].token, claims[i].lease_ms,
                i + 1 < count ? "," : "");
    }
    if (fclose(out) == 0)
        return text;
    free(text);
    return NULL;
}

void postgres_renew_all(struct postgres_pool *pool, const struct postgres_question *question,
                        dlock_status renew(void *state, const dlock_claim *claim),
                        const dlock_claim *claims, size_t count, dlock_status *statuses)
{
    char *text = write_claims(claims, count);
    const char *values[] = {text};
    struct postgres_answer answer = {0};
    dlock_status st = DLOCK_NOMEM;
    int64_t until_ns;

    _Static_assert((int)DLOCK_RENEW_ALL_MAX < (int)POSTGRES_TEXT_SIZE, "an answer is not cut");
    if (text != NULL)
        st = postgres_pool_ask(pool, question, values, claims[0].give_up_ns, &answer);
    free(text);
    if (st == DLOCK_OK &&
        (strlen(answer.text) != count || strspn(answer.text, "012") != count))
        st = dlock_fail(DLOCK_PROTOCOL, "PostgreSQL: not an answer for each renewal");
    until_ns = dlock_clock_after(dlock_clock_ns(), LOCKED_MS);
    for (size_t i = 0; i < count; i++) {
        dlock_claim claim = claims[i];

        statuses[i] = st != DLOCK_OK ? st : answer.text[i] == '1' ? DLOCK_OK : DLOCK_LOST;
        if (st != DLOCK_OK || answer.text[i] != '2')
            continue;
        if (until_ns < claim.give_up_ns)
            claim.give_up_ns = until_ns;
        statuses[i] = dlock_clock_ns() < until_ns ? renew(pool, &claim) : DLOCK_IO;
    }
}
