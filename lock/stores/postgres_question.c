/* SPDX-License-Identifier: MIT */
/* postgres_question.c -- one question to PostgreSQL, and its answer, by a deadline. */
#include "lock/stores/postgres_question.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/os/clock.h"
#include "base/os/fork.h"
#include "base/os/number.h"
#include "base/os/refusal.h"
#include "lock/metrics.h"

enum {
    LABEL_SIZE = 128,
    SAID_SIZE = 300,
    ANSWER_MAX = 1 << 20, /* every statement of a lock answers one row */
};

struct postgres_conn {
    struct postgres_connection *open; /* NULL: the connection broke */
    enum postgres_pooler pooler;
    int timeout_ms;
    char label[LABEL_SIZE]; /* the server, for messages */
};

/* ---- answers ---- */

/* The numbers of the types, which are the same in every server. */
static const unsigned TYPES[] = {
    [POSTGRES_VOID] = 2278, [POSTGRES_BOOL] = 16, [POSTGRES_INT4] = 23,
    [POSTGRES_INT8] = 20,   [POSTGRES_TEXT] = 25,
};

static dlock_status answer_refuse(const char *sql, const char *what)
{
    return dlock_fail(DLOCK_PROTOCOL, "answered %s to: %.60s", what, sql);
}

/* Does the command tag fit the statement?  A COMMIT that failed has the tag
 * ROLLBACK. */
static bool answer_is_done(const struct postgres_result *result, const char *sql)
{
    const char *tag = postgres_result_tag(result);
    size_t len = strcspn(sql, " ");

    return strncmp(tag, sql, len) == 0 && (tag[len] == '\0' || tag[len] == ' ');
}

static bool answer_value(const struct postgres_result *result, const struct postgres_shape *shape,
                       struct postgres_answer *out)
{
    const char *value = postgres_result_text(result, 0, 0);
    size_t len = postgres_result_length(result, 0, 0);

    switch (shape->kind) {
    case POSTGRES_VOID:
        return len == 0;
    case POSTGRES_BOOL:
        out->is_true = value[0] == 't';
        return len == 1 && (value[0] == 't' || value[0] == 'f');
    case POSTGRES_INT4:
    case POSTGRES_INT8:
        return dlock_number_read(value, len, shape->least, shape->most, &out->number);
    default:
        snprintf(out->text, sizeof(out->text), "%s", value);
        return strlen(value) == len;
    }
}

/* Read the result of the statement `sql` into *out.  OK, or PROTOCOL. */
static dlock_status postgres_answer_read(const struct postgres_result *result, const char *sql,
                                         const struct postgres_shape *shape,
                                         struct postgres_answer *out)
{
    int row_count = postgres_result_rows(result);

    *out = (struct postgres_answer){.has_row = row_count > 0, .is_null = true};
    if (postgres_result_kind(result) == POSTGRES_RESULT_DONE) {
        if (shape->kind != POSTGRES_NOTHING)
            return answer_refuse(sql, "no rows");
        return answer_is_done(result, sql) ? DLOCK_OK
                                           : answer_refuse(sql, "that it did something else");
    }
    if (shape->kind == POSTGRES_NOTHING)
        return answer_refuse(sql, "rows");
    if (postgres_result_columns(result) != 1 ||
        postgres_result_type(result, 0) != TYPES[shape->kind])
        return answer_refuse(sql, "columns of another kind");
    if (row_count > 1 || (row_count == 0 && !shape->may_be_absent))
        return answer_refuse(sql, row_count == 0 ? "no row" : "several rows");
    if (row_count == 0)
        return DLOCK_OK;
    out->is_null = postgres_result_is_null(result, 0, 0);
    if (out->is_null)
        return shape->may_be_null ? DLOCK_OK : answer_refuse(sql, "NULL");
    return answer_value(result, shape, out) ? DLOCK_OK : answer_refuse(sql, "an impossible value");
}

/* ---- questions ---- */

/* Set dlock_error() to the server's address and `text`, one line of libpq or of the server.  The
 * URL never appears there, because it has a password.  libpq's messages begin with the server's
 * address.  If a message ends there, it has no reason, and one is added.  Returns `st`. */
static dlock_status postgres_conn_fail(const struct postgres_conn *conn, dlock_status st,
                                        const char *text)
{
    char said[SAID_SIZE];

    snprintf(said, sizeof(said), "%s", text);
    postgres_message_complete(said, sizeof(said), "did not answer in time");
    return dlock_fail(st, "%s: %s", conn->label, said);
}

static struct postgres_wire *wire_of(const struct postgres_conn *conn)
{
    return postgres_connection_wire(conn->open);
}

/* Close a connection from which no later answer may be read. */
static dlock_status break_off(struct postgres_conn *conn, dlock_status st,
                              const char *text)
{
    (void)postgres_conn_fail(conn, st, text);
    postgres_connection_close(conn->open);
    conn->open = NULL;
    return st;
}

/* A statement that was sent and is to be answered. */
struct sent {
    const char *sql;
    const struct postgres_shape *shape; /* NULL: the statement is only prepared */
    int64_t deadline_ns;
    bool was_open; /* a transaction was open before the statement */
    bool is_batch; /* the batch is the limit of its transaction, the statement, and a
                    * Sync */
};

/* The status that an error of the server stands for.  A session that is being ended may
 * have ended after its commit; all other errors roll the statement back. */
static dlock_status judge(const struct postgres_conn *conn,
                          const struct postgres_result *result)
{
    const char *state = postgres_result_state(result);
    char text[SAID_SIZE];

    postgres_message_fold(text, sizeof(text), postgres_result_message(result));
    if (state == NULL)
        return postgres_conn_fail(conn, DLOCK_UNKNOWN, text);
    if (strcmp(state, "55P03") == 0)
        return DLOCK_BUSY;
    switch (refusal_of_text(REFUSAL_POSTGRES, state)) {
    case REFUSAL_UNDECIDED:
        return postgres_conn_fail(conn, DLOCK_UNKNOWN, text);
    case REFUSAL_PASSES:
        return postgres_conn_fail(conn, DLOCK_IO, text);
    default:
        return postgres_conn_fail(conn, DLOCK_PROTOCOL, text);
    }
}

/* The status of a result.  BUSY and some errors leave the connection as it was. */
static dlock_status read_result(const struct postgres_conn *conn,
                                const struct postgres_result *result,
                                const struct sent *sent, struct postgres_answer *out)
{
    switch (postgres_result_kind(result)) {
    case POSTGRES_RESULT_ROWS:
    case POSTGRES_RESULT_DONE:
        return sent->shape == NULL
                   ? DLOCK_OK
                   : postgres_answer_read(result, sent->sql, sent->shape, out);
    case POSTGRES_RESULT_ERROR:
        return judge(conn, result);
    default: /* a COPY, for example */
        return postgres_conn_fail(conn, DLOCK_PROTOCOL, "a result that no statement can have");
    }
}

/* Is the state of the transaction the one that the statement must leave? */
static bool is_transaction_right(const struct postgres_conn *conn,
                                 const struct sent *sent, dlock_status st)
{
    enum postgres_transaction now = postgres_wire_transaction(wire_of(conn));
    enum postgres_transaction before =
        sent->was_open ? POSTGRES_IN_TRANSACTION : POSTGRES_NO_TRANSACTION;
    bool is_end = strcmp(sent->sql, "COMMIT") == 0 || strcmp(sent->sql, "ROLLBACK") == 0;

    if (st != DLOCK_OK && sent->was_open && !is_end)
        return now == POSTGRES_IN_FAILED_TRANSACTION;
    if (st != DLOCK_OK || is_end)
        return now == POSTGRES_NO_TRANSACTION;
    if (strcmp(sent->sql, "BEGIN") == 0)
        return now == POSTGRES_IN_TRANSACTION;
    return now == before;
}

/* The results of one statement; there must be exactly one. */
struct collected {
    dlock_status st;
    bool is_odd;   /* the statement cannot have such results */
    bool is_spent; /* no later statement may use the connection */
};

/* Read a result and the NULL after it.  False: no result came.  After a Sync there is
 * no NULL. */
static bool read_one(const struct postgres_conn *conn, const struct sent *sent,
                     struct collected *c, struct postgres_answer *out)
{
    struct postgres_result *result = NULL;
    enum postgres_result_kind kind;
    dlock_status st;

    if (!postgres_wire_receive(wire_of(conn), sent->deadline_ns, &result))
        return false;
    c->is_odd = c->is_odd || result == NULL;
    if (result == NULL)
        return true;
    kind = postgres_result_kind(result);
    st = c->st == DLOCK_OK ? read_result(conn, result, sent, out) : c->st;
    c->is_odd = c->is_odd || (st == DLOCK_PROTOCOL && c->st == DLOCK_OK &&
                              kind != POSTGRES_RESULT_ERROR);
    c->is_spent = c->is_spent || (postgres_result_state(result) != NULL &&
                                  postgres_message_spends(postgres_result_state(result)));
    c->st = st;
    postgres_result_free(result);
    if (c->is_odd)
        return true;
    if (!postgres_wire_receive(wire_of(conn), sent->deadline_ns, &result))
        return false;
    c->is_odd = c->is_odd || result != NULL;
    postgres_result_free(result);
    return true;
}

static bool read_sync(const struct postgres_conn *conn, const struct sent *sent,
                      struct collected *c)
{
    struct postgres_result *result = NULL;

    if (!postgres_wire_receive(wire_of(conn), sent->deadline_ns, &result))
        return false;
    c->is_odd = c->is_odd || postgres_result_kind(result) != POSTGRES_RESULT_SYNC;
    postgres_result_free(result);
    return true;
}

static bool read_answers(const struct postgres_conn *conn, const struct sent *sent,
                         struct collected *c, struct postgres_answer *out)
{
    struct sent limit = *sent;

    limit.shape = NULL;
    if (sent->is_batch && !read_one(conn, &limit, c, NULL))
        return false;
    return read_one(conn, sent, c, out) &&
           (!sent->is_batch || c->is_odd || read_sync(conn, sent, c));
}

/* Read the answer to a statement.  If the statement cannot have this answer, the
 * connection is closed. */
static dlock_status collect(struct postgres_conn *conn, const struct sent *sent,
                            struct postgres_answer *out)
{
    struct postgres_wire *wire = wire_of(conn);
    struct collected c = {.st = DLOCK_OK};

    if (!postgres_wire_send(wire, sent->deadline_ns))
        return break_off(conn, DLOCK_UNKNOWN, "the connection broke, or is stuck");
    if (!read_answers(conn, sent, &c, out))
        return break_off(conn, DLOCK_UNKNOWN,
                         postgres_wire_is_flooded(wire)
                             ? postgres_connection_error(conn->open)
                             : "no answer came");
    if (postgres_wire_is_broken(wire))
        return break_off(conn, c.st == DLOCK_OK ? DLOCK_OK : DLOCK_UNKNOWN, dlock_error());
    if (c.is_odd || !is_transaction_right(conn, sent, c.st) ||
        postgres_wire_has_said_more(wire))
        return break_off(conn, DLOCK_PROTOCOL,
                         c.st == DLOCK_PROTOCOL ? dlock_error()
                                                : "an answer that does not fit the statement");
    if (c.is_spent)
        return break_off(conn, c.st, dlock_error());
    if (postgres_wire_is_unreplicated(wire))
        return break_off(conn, DLOCK_UNKNOWN,
                         "the server committed without its synchronous standby");
    return c.st;
}

static dlock_status prepare(struct postgres_conn *conn,
                            const struct postgres_statement *statement,
                            int64_t deadline_ns)
{
    struct sent sent = {"PREPARE", NULL, deadline_ns, postgres_is_in_transaction(conn), false};
    dlock_status st;

    if (postgres_connection_has(conn->open, statement))
        return DLOCK_OK;
    if (!postgres_connection_prepare(conn->open, statement))
        return break_off(conn, DLOCK_IO, "the connection is broken");
    st = collect(conn, &sent, NULL);
    if (st != DLOCK_OK && conn->open != NULL)
        (void)break_off(conn, st, dlock_error()); /* the server may have prepared it or
                                                   * not */
    return st == DLOCK_UNKNOWN ? DLOCK_IO : st; /* the statement was only being
                                                 * prepared */
}

/* Put the limit of the transaction and then the statement; both are one batch and one
 * transaction. */
static bool put_batch(struct postgres_conn *conn, const struct postgres_statement *statement,
                      const struct postgres_value *texts)
{
    static const struct postgres_statement LIMIT = {
        "limit", "SELECT set_config('statement_timeout', $1::bigint::text, true)", "i"};
    struct postgres_statement untyped = *statement;

    if (untyped.types == NULL)
        untyped.types = "";
    return postgres_connection_execute(
               conn->open, &LIMIT,
               &(struct postgres_value){.integer = conn->timeout_ms}) &&
           postgres_connection_execute(conn->open, &untyped, texts) &&
           postgres_wire_put_sync(wire_of(conn));
}

static bool put(struct postgres_conn *conn, const struct postgres_statement *statement,
                const char *const *values)
{
    struct postgres_value texts[POSTGRES_VALUES_MAX] = {{0}};

    for (size_t i = 0; statement->types != NULL && i < strlen(statement->types); i++)
        texts[i].text = values[i];
    if (conn->pooler == POSTGRES_POOLER_TRANSACTION)
        return put_batch(conn, statement, texts);
    if (statement->types == NULL)
        return postgres_wire_put_query(wire_of(conn), statement->sql);
    return postgres_connection_execute(conn->open, statement, texts);
}

dlock_status postgres_ask(struct postgres_conn *conn,
                          const struct postgres_question *question,
                          const char *const *values, int64_t give_up_ns,
                          struct postgres_answer *out)
{
    const struct postgres_statement *statement = &question->statement;
    struct sent sent = {statement->sql, &question->shape,
                        dlock_clock_after(dlock_clock_ns(), conn->timeout_ms),
                        postgres_is_in_transaction(conn),
                        conn->pooler == POSTGRES_POOLER_TRANSACTION};
    struct postgres_answer unread;
    dlock_status st = DLOCK_OK;

    if (conn->open == NULL)
        return dlock_fail(DLOCK_IO, "%s: the connection is lost", conn->label);
    if (postgres_is_gone(conn))
        return break_off(conn, DLOCK_IO, "the server hung up");
    if (give_up_ns < sent.deadline_ns)
        sent.deadline_ns = give_up_ns;
    if (statement->types != NULL)
        st = prepare(conn, statement, sent.deadline_ns);
    if (st != DLOCK_OK)
        return st;
    dlock_commands_sent++;
    if (!put(conn, statement, values))
        return break_off(conn, DLOCK_UNKNOWN, postgres_connection_error(conn->open));
    st = collect(conn, &sent, out != NULL ? out : &unread);
    if (st == DLOCK_BUSY && !question->may_wait)
        return dlock_fail(DLOCK_IO, "%s: another session has the lock (lock_timeout, NOWAIT)",
                          conn->label);
    return st;
}

dlock_status postgres_limit_wait(struct postgres_conn *conn, int64_t until_ns,
                                 int64_t give_up_ns)
{
    char sql[48];
    struct postgres_question set = {.statement.sql = sql};
    int wait_ms = dlock_clock_poll_ms(until_ns);
    dlock_status st;

    if (wait_ms > conn->timeout_ms / 2)
        wait_ms = conn->timeout_ms / 2;
    if (wait_ms < 1)
        wait_ms = 1; /* 0 would mean no limit */
    snprintf(sql, sizeof(sql), "SET lock_timeout = %d", wait_ms);
    st = postgres_ask(conn, &set, NULL, give_up_ns, NULL);
    return st == DLOCK_UNKNOWN ? DLOCK_IO : st; /* the statement was not sent yet */
}

bool postgres_is_gone(const struct postgres_conn *conn)
{
    return conn->open == NULL || postgres_connection_is_gone(conn->open);
}

bool postgres_is_in_transaction(const struct postgres_conn *conn)
{
    return conn->open != NULL && postgres_connection_is_in_transaction(conn->open);
}

int postgres_backend_pid(const struct postgres_conn *conn)
{
    return conn->open != NULL ? postgres_wire_backend_pid(wire_of(conn)) : 0;
}

/* ---- connections ---- */

#define X(keyword, own, setting, value) " -c " setting "=" value

/* Set the server's statement timeout to the client's, so that a statement that the
 * client has given up is not executed much later.  There is no timeout for idle
 * transactions: a transaction that holds a lock is idle while its holder works.  The
 * statements of the locks are made for READ COMMITTED: under another level a statement
 * that has waited for a row which another client changed fails.  The server gives up a
 * silent client after 30 s, since it keeps the lock of a session until then, and later
 * than the client gives up the server, so that the holder is told first.  Behind a
 * pooler the client of the server is the pooler. */
static struct postgres_connection *start_connecting(const struct postgres_place *place)
{
    char settings[400];
    char name[32];
    const struct postgres_wire_options options = {
        .url = place->url,
        .application_name = name,
        .settings = place->pooler == POSTGRES_POOLER_NONE ? settings : NULL,
        .wants_primary = true,
        .first_host = place->host,
        .answer_max = ANSWER_MAX,
    };

    snprintf(name, sizeof(name), "dlock-%d", (int)dlock_fork_process_id());
    snprintf(settings, sizeof(settings),
             "-c statement_timeout=%d -c lock_timeout=0"
             " -c idle_in_transaction_session_timeout=0 -c idle_session_timeout=0"
             " -c default_transaction_isolation=read\\ committed" POSTGRES_SILENCES(X),
             place->timeout_ms);
    return postgres_connection_new(&options, place->pooler);
}

#undef X

static void set_label(struct postgres_conn *conn)
{
    char address[LABEL_SIZE - 16];

    postgres_wire_address(postgres_connection_wire(conn->open), address, sizeof(address));
    snprintf(conn->label, sizeof(conn->label), "PostgreSQL at %s", address);
}

/* Make the settings that a pooler refuses in the opening of a connection. */
static dlock_status prepare_session(struct postgres_conn *conn, int64_t deadline_ns)
{
    char limit[64];
    const char *const settings[] = {
        "SET lock_timeout = 0",
        "SET idle_in_transaction_session_timeout = 0",
        "SET idle_session_timeout = 0",
        "SET default_transaction_isolation = 'read committed'",
        limit,
    };
    dlock_status st = DLOCK_OK;

    if (conn->pooler == POSTGRES_POOLER_TRANSACTION)
        return postgres_wire_set_batches(postgres_connection_wire(conn->open), true)
                   ? DLOCK_OK
                   : postgres_conn_fail(conn, DLOCK_IO, "the connection broke");
    (void)snprintf(limit, sizeof(limit), "SET statement_timeout = %d", conn->timeout_ms);
    for (size_t i = 0; st == DLOCK_OK && conn->pooler == POSTGRES_POOLER_SESSION &&
                       i < sizeof(settings) / sizeof(settings[0]); i++) {
        struct postgres_question set = {.statement.sql = settings[i]};

        st = postgres_ask(conn, &set, NULL, deadline_ns, NULL);
    }
    return st == DLOCK_UNKNOWN ? DLOCK_IO : st;
}

static dlock_status open_session(struct postgres_conn *conn, int64_t deadline_ns)
{
    const char *said;
    bool is_final;

    if (postgres_connection_open(conn->open, deadline_ns) == POSTGRES_OPEN) {
        set_label(conn);
        return prepare_session(conn, deadline_ns);
    }
    said = postgres_connection_error(conn->open);
    if (postgres_message_is_of_pooler(said))
        return dlock_fail(DLOCK_PROTOCOL, "%s: %.120s; set database_pooler "
                                          "(--database-pooler) to session or transaction, as "
                                          "the pool_mode of that pooler is", conn->label, said);
    is_final = postgres_message_is_final(postgres_connection_state(conn->open), said);
    return postgres_conn_fail(conn, is_final ? DLOCK_PROTOCOL : DLOCK_IO, said);
}

dlock_status postgres_connect(struct postgres_conn **out, const struct postgres_place *place,
                              int64_t give_up_ns, size_t *host)
{
    int64_t deadline_ns = dlock_clock_after(dlock_clock_ns(), place->timeout_ms);
    struct postgres_conn *conn = calloc(1, sizeof(*conn));
    dlock_status st;

    *out = NULL;
    if (give_up_ns < deadline_ns)
        deadline_ns = give_up_ns;
    if (conn != NULL)
        conn->open = start_connecting(place);
    if (conn == NULL || conn->open == NULL) {
        free(conn);
        return dlock_fail(DLOCK_NOMEM, "no memory for a connection");
    }
    conn->timeout_ms = place->timeout_ms;
    conn->pooler = place->pooler;
    set_label(conn);
    st = open_session(conn, deadline_ns);
    if (st != DLOCK_OK) {
        postgres_hang_up(conn);
        return st;
    }
    *host = postgres_wire_host(postgres_connection_wire(conn->open));
    *out = conn;
    return DLOCK_OK;
}

void postgres_hang_up(struct postgres_conn *conn)
{
    if (conn == NULL)
        return;
    postgres_connection_close(conn->open);
    free(conn);
}
