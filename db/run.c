/* SPDX-License-Identifier: MIT */
/* run.c -- send a batch of statements in one round trip and read every answer. */
#include <endian.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text/duration.h"
#include "db/conn.h"
#include "db/conn_private.h"

enum {
    GRACE_MS = 500, /* how long the server may outlast its own statement timeout */
    TYPE_INT8 = 20, /* the server's type numbers: pg_type.oid, fixed for ever */
    TYPE_TEXT = 25,
};

void db_queue(struct db_conn *db, const struct db_statement *statement,
              const struct db_value *values)
{
    struct queued *q = &db->queue[db->queue_count];
    size_t n = strlen(statement->types);

    if (db->queue_count == DB_BATCH_MAX || n > DB_PARAM_MAX)
        abort(); /* a mistake in the program, not in its input */
    q->statement = statement;
    if (n > 0)
        memcpy(q->kept, values, n * sizeof(*values));
    db->queue_count++;
}

static bool is_prepared(const struct db_conn *db, const struct db_statement *statement)
{
    for (size_t i = 0; i < db->prepared_count; i++)
        if (db->prepared[i] == statement)
            return true;
    return false;
}

/* Prepare it ahead of its first use in this batch. */
static bool send_prepare(struct db_conn *db, const struct db_statement *statement)
{
    Oid types[DB_PARAM_MAX];
    int n = (int)strlen(statement->types);

    for (int i = 0; i < n; i++)
        types[i] = statement->types[i] == 'i' ? TYPE_INT8 : TYPE_TEXT;
    return PQsendPrepare(db->pg, statement->name, statement->sql, n, types) == 1;
}

static bool send_one(struct db_conn *db, const struct queued *q)
{
    const char *values[DB_PARAM_MAX];
    int lengths[DB_PARAM_MAX];
    int formats[DB_PARAM_MAX];
    uint64_t integers[DB_PARAM_MAX];
    int n = (int)strlen(q->statement->types);

    for (int i = 0; i < n; i++) {
        const struct db_value *v = &q->kept[i];
        bool is_int = q->statement->types[i] == 'i';

        integers[i] = htobe64((uint64_t)v->integer);
        values[i] = is_int ? (const char *)&integers[i] : v->text;
        if (v->is_null)
            values[i] = NULL;
        lengths[i] = is_int ? (int)sizeof(integers[i]) : 0;
        formats[i] = is_int;
    }
    return PQsendQueryPrepared(db->pg, q->statement->name, n, values, lengths, formats,
                               0) == 1;
}

/* The next result of the pipeline, NULL when a statement's results are at their end.
 * False: the connection broke or the deadline passed. */
static bool next_result(struct db_conn *db, int64_t deadline_ns, PGresult **out)
{
    while (PQisBusy(db->pg)) {
        if (!db_wait_socket(PQsocket(db->pg), POLLIN, deadline_ns))
            return false;
        if (PQconsumeInput(db->pg) != 1)
            return false;
    }
    *out = PQgetResult(db->pg);
    return true;
}

static bool is_class(const char *state, const char *class)
{
    return strncmp(state, class, strlen(class)) == 0;
}

static enum db_status status_of(const char *state)
{
    static const struct {
        const char *prefix;
        enum db_status status;
    } KNOWN[] = {
        {"23505", DB_UNIQUE},  {"40001", DB_CONFLICT}, {"40P01", DB_CONFLICT},
        {"57014", DB_TIMEOUT}, {"55P03", DB_TIMEOUT},  {"08", DB_LOST},
        {"57P", DB_LOST},      {"25P03", DB_LOST},     {"53300", DB_LOST},
        {"53", DB_UNABLE},     {"25006", DB_UNABLE},
    };

    if (state == NULL)
        return DB_ERROR;
    for (size_t i = 0; i < sizeof(KNOWN) / sizeof(KNOWN[0]); i++)
        if (is_class(state, KNOWN[i].prefix))
            return KNOWN[i].status;
    return DB_ERROR;
}

static enum db_status judge(struct db_conn *db, const PGresult *result)
{
    const char *constraint = NULL;
    const char *state = NULL;

    switch (PQresultStatus(result)) {
    case PGRES_COMMAND_OK:
    case PGRES_TUPLES_OK:
    case PGRES_EMPTY_QUERY:
        return DB_OK;
    default:
        break;
    }
    db_note_error(db, PQresultErrorMessage(result));
    constraint = PQresultErrorField(result, PG_DIAG_CONSTRAINT_NAME);
    (void)snprintf(db->constraint, sizeof(db->constraint), "%s",
                   constraint != NULL ? constraint : "");
    state = PQresultErrorField(result, PG_DIAG_SQLSTATE);
    (void)snprintf(db->state, sizeof(db->state), "%s", state != NULL ? state : "");
    return status_of(state);
}

/* Read the answer of one statement and the NULL that ends it. */
static bool read_answer(struct db_conn *db, int64_t deadline_ns, PGresult **out)
{
    PGresult *end = NULL;

    *out = NULL;
    if (!next_result(db, deadline_ns, out) || *out == NULL)
        return false;
    if (PQresultStatus(*out) == PGRES_PIPELINE_SYNC)
        return true;
    if (!next_result(db, deadline_ns, &end))
        return false;
    PQclear(end);
    return end == NULL;
}

static bool send_all(struct db_conn *db, bool *prepares)
{
    for (size_t i = 0; i < db->queue_count; i++) {
        const struct db_statement *s = db->queue[i].statement;

        prepares[i] = !is_prepared(db, s);
        if (prepares[i]) {
            if (db->prepared_count == PREPARED_MAX || !send_prepare(db, s))
                return false;
            db->prepared[db->prepared_count++] = s;
        }
        if (!send_one(db, &db->queue[i]))
            return false;
    }
    return PQpipelineSync(db->pg) == 1;
}

static void forget_prepared(struct db_conn *db, const struct db_statement *statement)
{
    for (size_t i = 0; i < db->prepared_count; i++)
        if (db->prepared[i] == statement)
            db->prepared[i] = db->prepared[--db->prepared_count];
}

/* Read what answers statement `i`; *first keeps the first failure of the batch. */
static bool read_statement(struct db_conn *db, size_t i, bool prepared_now,
                           int64_t deadline_ns, enum db_status *first)
{
    PGresult *result = NULL;
    enum db_status st;

    if (prepared_now) {
        bool read = read_answer(db, deadline_ns, &result);

        st = read && *first == DB_OK ? judge(db, result) : *first;
        if (!read || PQresultStatus(result) != PGRES_COMMAND_OK)
            forget_prepared(db, db->queue[i].statement);
        PQclear(result);
        if (!read)
            return false;
        *first = st;
    }
    if (!read_answer(db, deadline_ns, &db->results[i]))
        return false;
    if (*first == DB_OK)
        *first = judge(db, db->results[i]);
    if (*first == DB_OK)
        db->succeeded++;
    return true;
}

static enum db_status read_all(struct db_conn *db, const bool *prepares)
{
    int64_t deadline_ns = monotonic_ns() +
                          (int64_t)(db->opts.statement_timeout_ms + GRACE_MS) * 1000000;
    enum db_status first = DB_OK;
    PGresult *sync = NULL;
    bool read = true;

    db->result_count = db->queue_count;
    for (size_t i = 0; i < db->queue_count && read; i++)
        read = read_statement(db, i, prepares[i], deadline_ns, &first);
    if (read && first != DB_LOST)
        read = read_answer(db, deadline_ns, &sync);
    PQclear(sync);
    if (first == DB_LOST) {
        db_disconnect(db);
        return DB_LOST;
    }
    return read ? first
                : db_lose_silent(db, monotonic_ns() >= deadline_ns,
                                 db->opts.statement_timeout_ms + GRACE_MS);
}

enum db_status db_run(struct db_conn *db)
{
    bool prepares[DB_BATCH_MAX] = {false};
    enum db_status st;

    db_clear_results(db);
    db->constraint[0] = '\0';
    db->state[0] = '\0';
    st = db_connect(db);
    if (st == DB_OK) {
        db->error[0] = '\0';
        st = send_all(db, prepares) ? read_all(db, prepares)
                                    : db_lose(db, PQerrorMessage(db->pg));
    }
    db->queue_count = 0;
    return st;
}

enum db_status db_run_one(struct db_conn *db, const struct db_statement *statement,
                          const struct db_value *values)
{
    db_queue(db, statement, values);
    return db_run(db);
}

enum db_status db_script(struct db_conn *db, const char *script)
{
    enum db_status st = db_connect(db);
    PGresult *result = NULL;

    if (st != DB_OK)
        return st;
    if (PQexitPipelineMode(db->pg) != 1)
        return db_lose(db, PQerrorMessage(db->pg));
    result = PQexec(db->pg, script);
    st = result != NULL ? judge(db, result) : DB_LOST;
    PQclear(result);
    if (st == DB_LOST || PQstatus(db->pg) != CONNECTION_OK)
        return db_lose(db, PQerrorMessage(db->pg));
    if (PQenterPipelineMode(db->pg) != 1)
        return db_lose(db, PQerrorMessage(db->pg));
    return st;
}
