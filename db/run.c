/* SPDX-License-Identifier: MIT */
/* run.c -- send a batch of statements in one round trip and read every answer. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/os/clock.h"
#include "db/conn.h"
#include "db/conn_private.h"

enum { GRACE_MS = 500 }; /* how long the server may outlast its own statement timeout */

void db_queue(struct db_conn *db, const struct postgres_statement *statement,
              const struct postgres_value *values)
{
    struct queued *q = &db->queue[db->queue_count];
    size_t n = strlen(statement->types);

    if (db->queue_count == DB_BATCH_MAX || n > POSTGRES_PARAMETERS_MAX)
        abort(); /* a mistake in the program, not in its input */
    q->statement = statement;
    if (n > 0)
        memcpy(q->kept, values, n * sizeof(*values));
    db->queue_count++;
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

static enum db_status judge(struct db_conn *db, const struct postgres_result *result)
{
    const char *constraint = NULL;
    const char *state = NULL;

    switch (postgres_result_kind(result)) {
    case POSTGRES_RESULT_DONE:
    case POSTGRES_RESULT_ROWS:
    case POSTGRES_RESULT_EMPTY:
        return DB_OK;
    default:
        break;
    }
    postgres_message_fold(db->error, sizeof(db->error), postgres_result_message(result));
    constraint = postgres_result_constraint(result);
    (void)snprintf(db->constraint, sizeof(db->constraint), "%s",
                   constraint != NULL ? constraint : "");
    state = postgres_result_state(result);
    (void)snprintf(db->state, sizeof(db->state), "%s", state != NULL ? state : "");
    return status_of(state);
}

/* Read the answer of one statement and the NULL that ends it. */
static bool read_answer(struct db_conn *db, int64_t deadline_ns,
                        struct postgres_result **out)
{
    struct postgres_wire *wire = postgres_connection_wire(db->open);
    struct postgres_result *end = NULL;

    if (!postgres_wire_receive(wire, deadline_ns, out) || *out == NULL)
        return false;
    if (postgres_result_kind(*out) == POSTGRES_RESULT_SYNC)
        return true;
    if (!postgres_wire_receive(wire, deadline_ns, &end))
        return false;
    postgres_result_free(end);
    return end == NULL;
}

/* Put everything that was queued; a statement is prepared ahead of its first use. */
static bool put_all(struct db_conn *db, bool *prepares)
{
    for (size_t i = 0; i < db->queue_count; i++) {
        const struct postgres_statement *s = db->queue[i].statement;

        prepares[i] = !postgres_connection_has(db->open, s);
        if (prepares[i] && !postgres_connection_prepare(db->open, s))
            return false;
        if (!postgres_connection_execute(db->open, s, db->queue[i].kept))
            return false;
    }
    return postgres_wire_put_sync(postgres_connection_wire(db->open));
}

/* Read what answers statement `i`; *first keeps the first failure of the batch. */
static bool read_statement(struct db_conn *db, size_t i, bool prepared_now,
                           int64_t deadline_ns, enum db_status *first)
{
    struct postgres_result *result = NULL;
    enum db_status st;

    if (prepared_now) {
        bool read = read_answer(db, deadline_ns, &result);

        st = read && *first == DB_OK ? judge(db, result) : *first;
        if (!read || postgres_result_kind(result) != POSTGRES_RESULT_DONE)
            postgres_connection_forget(db->open, db->queue[i].statement);
        postgres_result_free(result);
        if (!read)
            return false;
        *first = st;
    }
    if (!read_answer(db, deadline_ns, &db->results[i]))
        return false;
    if (*first == DB_OK)
        *first = judge(db, db->results[i]);
    return true;
}

static bool read_all(struct db_conn *db, const bool *prepares, int64_t deadline_ns,
                     enum db_status *first)
{
    struct postgres_result *sync = NULL;
    bool read = true;

    db->result_count = db->queue_count;
    for (size_t i = 0; i < db->queue_count && read; i++)
        read = read_statement(db, i, prepares[i], deadline_ns, first);
    if (read && *first != DB_LOST)
        read = read_answer(db, deadline_ns, &sync);
    postgres_result_free(sync);
    return read;
}

/* Send what was put, and read every answer. */
static enum db_status talk(struct db_conn *db, const bool *prepares)
{
    int allowed_ms = db->opts.statement_timeout_ms + GRACE_MS;
    int64_t deadline_ns = dlock_clock_after(dlock_clock_ns(), allowed_ms);
    enum db_status first = DB_OK;
    bool read =
        postgres_wire_send(postgres_connection_wire(db->open), deadline_ns) &&
        read_all(db, prepares, deadline_ns, &first);

    if (first == DB_LOST) {
        db_disconnect(db);
        return DB_LOST;
    }
    return read ? first
                : db_lose_silent(db, dlock_clock_ns() >= deadline_ns, allowed_ms);
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
        st = put_all(db, prepares) ? talk(db, prepares) : db_lose_talk(db);
    }
    db->queue_count = 0;
    return st;
}

enum db_status db_run_one(struct db_conn *db, const struct postgres_statement *statement,
                          const struct postgres_value *values)
{
    db_queue(db, statement, values);
    return db_run(db);
}

/* Each of the script's statements has the statement timeout of its own, and the server
 * keeps to that. */
enum db_status db_script(struct db_conn *db, const char *script)
{
    struct postgres_result *result = NULL;
    struct postgres_wire *wire;
    enum db_status first = DB_OK;
    enum db_status st = db_connect(db);
    bool is_whole;

    if (st != DB_OK)
        return st;
    wire = postgres_connection_wire(db->open);
    is_whole = postgres_wire_set_batches(wire, false) &&
               postgres_wire_put_query(wire, script) &&
               postgres_wire_send(wire, INT64_MAX);
    while (is_whole && (is_whole = postgres_wire_receive(wire, INT64_MAX, &result)) &&
           result != NULL) {
        if (first == DB_OK)
            first = judge(db, result);
        postgres_result_free(result);
    }
    if (!is_whole || first == DB_LOST || postgres_wire_is_broken(wire))
        return db_lose_talk(db);
    return postgres_wire_set_batches(wire, true) ? first : db_lose_talk(db);
}
