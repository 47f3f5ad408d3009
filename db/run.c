/* SPDX-License-Identifier: MIT */
/* run.c -- send a batch of statements in one round trip and read every answer. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/os/clock.h"
#include "base/os/refusal.h"
#include "db/conn.h"
#include "db/conn_private.h"

enum { GRACE_MS = 500 }; /* how long the client waits beyond the server's statement
                          * timeout */

void db_queue(struct db_conn *db, const struct postgres_statement *statement,
              const struct postgres_value *values)
{
    struct queued *q = &db->queue[db->queue_count];
    size_t n = strlen(statement->types);

    if (db->queue_count == DB_BATCH_MAX || n > POSTGRES_PARAMETERS_MAX)
        abort(); /* a mistake of the program, and not of its input */
    q->statement = statement;
    if (n > 0)
        memcpy(q->kept, values, n * sizeof(*values));
    db->queue_count++;
}

/* What a caller of db_run() tells apart has a row here, and refusals.def has the rest. */
static enum db_status status_of(const char *state)
{
    static const struct {
        const char *state;
        enum db_status status;
    } KNOWN[] = {
        {"23505", DB_UNIQUE},  {"40001", DB_CONFLICT}, {"40P01", DB_CONFLICT},
        {"57014", DB_TIMEOUT}, {"55P03", DB_TIMEOUT},  {"53300", DB_LOST},
    };

    if (state == NULL)
        return DB_ERROR;
    for (size_t i = 0; i < sizeof(KNOWN) / sizeof(KNOWN[0]); i++)
        if (strcmp(state, KNOWN[i].state) == 0)
            return KNOWN[i].status;
    switch (refusal_of_text(REFUSAL_POSTGRES, state)) {
    case REFUSAL_UNDECIDED:
        return DB_LOST;
    case REFUSAL_PASSES:
        return DB_UNABLE;
    default:
        return DB_ERROR;
    }
}

static enum db_status judge(struct db_conn *db, const struct postgres_result *result)
{
    switch (postgres_result_kind(result)) {
    case POSTGRES_RESULT_DONE:
    case POSTGRES_RESULT_ROWS:
    case POSTGRES_RESULT_EMPTY:
        return DB_OK;
    default:
        break;
    }
    db_keep_refusal(db, result);
    return status_of(postgres_result_state(result));
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

/* The messages that are put before a statement, and answered before it. */
struct ahead {
    bool limits;  /* the limits of the transaction that it begins */
    bool prepare; /* the statement itself */
};

/* Put a statement, and before its first use a message that prepares it. */
static bool put_one(struct db_conn *db, const struct queued *q, bool is_first,
                    struct ahead *ahead)
{
    if (is_first && !db_limits_put(db, &ahead->limits))
        return false;
    ahead->prepare = !postgres_connection_has(db->open, q->statement);
    if (ahead->prepare && !postgres_connection_prepare(db->open, q->statement))
        return false;
    return postgres_connection_execute(db->open, q->statement, q->kept);
}

/* Put everything that was queued. */
static bool put_all(struct db_conn *db, struct ahead *ahead)
{
    bool is_first = !db_in_transaction(db); /* in a transaction */

    for (size_t i = 0; i < db->queue_count; i++) {
        const char *sql = db->queue[i].statement->sql;

        if (!put_one(db, &db->queue[i], is_first && strcmp(sql, "ROLLBACK") != 0, &ahead[i]))
            return false;
        is_first = strcmp(sql, "ROLLBACK") == 0 || strcmp(sql, "COMMIT") == 0;
    }
    return postgres_wire_put_sync(postgres_connection_wire(db->open));
}

/* Read the answer to a message that the caller did not queue.  *done: it was
 * executed. */
static bool read_ahead(struct db_conn *db, enum postgres_result_kind wanted,
                       int64_t deadline_ns, enum db_status *first, bool *done)
{
    struct postgres_result *result = NULL;
    bool read = read_answer(db, deadline_ns, &result);

    if (read && *first == DB_OK)
        *first = judge(db, result);
    *done = read && postgres_result_kind(result) == wanted;
    postgres_result_free(result);
    return read;
}

/* Read the answer to statement `i`.  *first is the first failure of the batch. */
static bool read_statement(struct db_conn *db, size_t i, struct ahead ahead,
                           int64_t deadline_ns, enum db_status *first)
{
    bool done = true;

    if (ahead.limits &&
        !read_ahead(db, POSTGRES_RESULT_ROWS, deadline_ns, first, &done))
        return false;
    if (ahead.prepare) {
        bool read = read_ahead(db, POSTGRES_RESULT_DONE, deadline_ns, first, &done);

        if (!done)
            postgres_connection_forget(db->open, db->queue[i].statement);
        if (!read)
            return false;
    }
    if (!read_answer(db, deadline_ns, &db->results[i]))
        return false;
    if (*first == DB_OK)
        *first = judge(db, db->results[i]);
    return true;
}

static bool read_all(struct db_conn *db, const struct ahead *ahead, int64_t deadline_ns,
                     enum db_status *first)
{
    struct postgres_result *sync = NULL;
    bool read = true;

    db->result_count = db->queue_count;
    for (size_t i = 0; i < db->queue_count && read; i++)
        read = read_statement(db, i, ahead[i], deadline_ns, first);
    if (read && *first != DB_LOST)
        read = read_answer(db, deadline_ns, &sync);
    postgres_result_free(sync);
    return read;
}

/* Send what was put, and read every answer. */
static enum db_status talk(struct db_conn *db, const struct ahead *ahead)
{
    int allowed_ms = db->opts.statement_timeout_ms + GRACE_MS;
    int64_t deadline_ns = dlock_clock_after(dlock_clock_ns(), allowed_ms);
    struct postgres_wire *wire = postgres_connection_wire(db->open);
    enum db_status first = DB_OK;
    bool read = postgres_wire_send(wire, deadline_ns) &&
                read_all(db, ahead, deadline_ns, &first);

    if (first == DB_OK && read && postgres_wire_is_unreplicated(wire))
        return db_lose(db, "the server committed without its synchronous standby, since it "
                           "was told to wait no longer");
    db->was_demoted = strcmp(db->state, "25006") == 0;
    if (first == DB_LOST || (first == DB_UNABLE && postgres_message_spends(db->state))) {
        db_disconnect(db);
        return first;
    }
    return read ? first
                : db_lose_silent(db, dlock_clock_ns() >= deadline_ns, allowed_ms);
}

enum db_status db_run(struct db_conn *db)
{
    struct ahead ahead[DB_BATCH_MAX] = {{false, false}};
    enum db_status st;

    db_clear_results(db);
    db->constraint[0] = '\0';
    db->state[0] = '\0';
    st = db_connect(db);
    if (st == DB_OK) {
        db->error[0] = '\0';
        st = put_all(db, ahead) ? talk(db, ahead) : db_lose_talk(db);
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

/* There is no deadline here, because the server applies the statement timeout to each
 * statement of the script. */
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
