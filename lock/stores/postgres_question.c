/* SPDX-License-Identifier: MIT */
/* postgres_question.c -- one question to PostgreSQL, and its answer, by a deadline. */
#include "lock/stores/postgres_question.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/os/clock.h"
#include "base/os/fork.h"
#include "lock/metrics.h"

enum { LABEL_SIZE = 128, SAID_SIZE = 200 };

struct postgres_conn {
    struct postgres_connection *open; /* NULL: it broke */
    int timeout_ms;
    char label[LABEL_SIZE];
};

/* `text` is one line of what libpq or the server said; never the URL, which has a password.
 * libpq begins with the server's address, so a text that ends there has no reason: give it
 * one. */
static dlock_status fail(const struct postgres_conn *conn, dlock_status st,
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

/* The server gives up by itself when we do, so that what we no longer wait for does not
 * happen much later.  A transaction that holds a lock is idle for as long as its holder
 * works. */
static struct postgres_connection *start_connecting(const char *url, int timeout_ms)
{
    char settings[160];
    char name[32];

    snprintf(name, sizeof(name), "dlock-%d", (int)dlock_fork_process_id());
    snprintf(settings, sizeof(settings),
             "-c statement_timeout=%d -c lock_timeout=0"
             " -c idle_in_transaction_session_timeout=0 -c idle_session_timeout=0",
             timeout_ms);
    return postgres_connection_new(url, name, settings);
}

static void set_label(struct postgres_conn *conn)
{
    char address[LABEL_SIZE - 16];

    postgres_wire_address(wire_of(conn), address, sizeof(address));
    snprintf(conn->label, sizeof(conn->label), "PostgreSQL at %s", address);
}

dlock_status postgres_connect(struct postgres_conn **out, const char *url,
                              int timeout_ms)
{
    int64_t deadline_ns = dlock_clock_after(dlock_clock_ns(), timeout_ms);
    struct postgres_conn *conn = calloc(1, sizeof(*conn));
    const char *said;
    bool is_final;
    dlock_status st;

    *out = NULL;
    if (conn != NULL)
        conn->open = start_connecting(url, timeout_ms);
    if (conn == NULL || conn->open == NULL) {
        free(conn);
        return dlock_fail(DLOCK_NOMEM, "no memory for a connection");
    }
    conn->timeout_ms = timeout_ms;
    set_label(conn);
    if (postgres_connection_open(conn->open, deadline_ns) == POSTGRES_OPEN) {
        *out = conn;
        return DLOCK_OK;
    }
    said = postgres_connection_error(conn->open);
    is_final = postgres_message_is_final(postgres_connection_state(conn->open), said);
    st = fail(conn, is_final ? DLOCK_PROTOCOL : DLOCK_IO, said);
    postgres_hang_up(conn);
    return st;
}

void postgres_hang_up(struct postgres_conn *conn)
{
    if (conn == NULL)
        return;
    postgres_connection_close(conn->open);
    free(conn);
}

/* Nothing may be read from it any more. */
static dlock_status break_off(struct postgres_conn *conn, dlock_status st,
                              const char *text)
{
    (void)fail(conn, st, text);
    postgres_connection_close(conn->open);
    conn->open = NULL;
    return st;
}

/* A statement that was sent and is to be answered. */
struct sent {
    const char *sql;
    const struct postgres_shape *shape; /* NULL: it was prepared */
    int64_t deadline_ns;
    bool was_open; /* a transaction, before it was asked */
};

/* The status that an error of the server stands for.  A session that is being ended
 * (57P01 to 57P05) may have ended after its commit; all other errors roll the statement
 * back. */
static dlock_status judge(const struct postgres_conn *conn,
                          const struct postgres_result *result)
{
    const char *state = postgres_result_state(result);
    char text[SAID_SIZE];

    postgres_message_fold(text, sizeof(text), postgres_result_message(result));
    if (state == NULL || strncmp(state, "57P", 3) == 0 || strncmp(state, "08", 2) == 0)
        return fail(conn, DLOCK_UNKNOWN, text);
    if (strcmp(state, "55P03") == 0)
        return DLOCK_BUSY;
    if (strcmp(state, "57014") == 0 || strncmp(state, "53", 2) == 0 ||
        strncmp(state, "40", 2) == 0)
        return fail(conn, DLOCK_IO, text);
    return fail(conn, DLOCK_PROTOCOL, text);
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
    default: /* to copy rows, for example */
        return fail(conn, DLOCK_PROTOCOL, "an answer that is none to a statement");
    }
}

/* Is a transaction open exactly if it has to be? */
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

/* Read the one result of a statement.  An answer that is none to it breaks the
 * connection. */
static dlock_status collect(struct postgres_conn *conn, const struct sent *sent,
                            struct postgres_answer *out)
{
    struct postgres_wire *wire = wire_of(conn);
    dlock_status st = DLOCK_OK;
    struct postgres_result *result = NULL;
    bool is_odd = false;

    if (!postgres_wire_send(wire, sent->deadline_ns))
        return break_off(conn, DLOCK_UNKNOWN, "the connection broke, or is stuck");
    for (int count = 0; !is_odd; count++) {
        enum postgres_result_kind kind;

        if (!postgres_wire_receive(wire, sent->deadline_ns, &result))
            return break_off(conn, DLOCK_UNKNOWN, "no answer came");
        if (result == NULL) {
            is_odd = count == 0;
            break;
        }
        kind = postgres_result_kind(result);
        if (count == 0)
            st = read_result(conn, result, sent, out);
        is_odd = count > 0 || (st == DLOCK_PROTOCOL && kind != POSTGRES_RESULT_ERROR);
        postgres_result_free(result);
    }
    if (postgres_wire_is_broken(wire))
        return break_off(conn, st == DLOCK_OK ? DLOCK_OK : DLOCK_UNKNOWN, dlock_error());
    if (!is_odd && is_transaction_right(conn, sent, st) &&
        !postgres_wire_has_said_more(wire))
        return st;
    return break_off(conn, DLOCK_PROTOCOL,
                     st == DLOCK_PROTOCOL ? dlock_error()
                                          : "an answer that is none to the question");
}

static dlock_status prepare(struct postgres_conn *conn,
                            const struct postgres_statement *statement,
                            int64_t deadline_ns)
{
    struct sent sent = {"PREPARE", NULL, deadline_ns, postgres_is_in_transaction(conn)};
    dlock_status st;

    if (postgres_connection_has(conn->open, statement))
        return DLOCK_OK;
    if (!postgres_connection_prepare(conn->open, statement))
        return break_off(conn, DLOCK_IO, "the connection is broken");
    st = collect(conn, &sent, NULL);
    if (st != DLOCK_OK && conn->open != NULL)
        (void)break_off(conn, st, dlock_error()); /* does the server have it or not? */
    return st == DLOCK_UNKNOWN ? DLOCK_IO : st; /* it was only being prepared */
}

static bool put(struct postgres_conn *conn, const struct postgres_statement *statement,
                const char *const *values)
{
    struct postgres_value texts[POSTGRES_VALUES_MAX] = {{0}};

    if (statement->types == NULL)
        return postgres_wire_put_query(wire_of(conn), statement->sql);
    for (size_t i = 0; i < strlen(statement->types); i++)
        texts[i].text = values[i];
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
                        postgres_is_in_transaction(conn)};
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
        return dlock_fail(DLOCK_IO, "%s: a lock was not to be had", conn->label);
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
        wait_ms = 1; /* 0 would mean for ever */
    snprintf(sql, sizeof(sql), "SET lock_timeout = %d", wait_ms);
    st = postgres_ask(conn, &set, NULL, give_up_ns, NULL);
    return st == DLOCK_UNKNOWN ? DLOCK_IO : st; /* nothing was asked for yet */
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
