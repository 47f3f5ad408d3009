/* SPDX-License-Identifier: MIT */
/* postgres_conn.c -- one connection to PostgreSQL, with a deadline on everything. */
#include "lock/stores/postgres_conn.h"

#include <libpq-fe.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/os/clock.h"
#include "lock/metrics.h"

enum { BYTEA_OID = 17, LABEL_SIZE = 128, SAID_SIZE = 200 };

struct postgres_conn {
    PGconn *pg;
    int timeout_ms;
    unsigned prepared; /* a bit per statement */
    bool was_told;     /* what nobody asked for */
    char label[LABEL_SIZE];
};

/* One line of what libpq or the server said; never the URL, which has a password.  libpq
 * begins with the server's address, so a text that ends there has no reason: give it one. */
static const char *one_line(const char *text, const char *reason, char out[SAID_SIZE])
{
    size_t n = 0;

    for (; *text != '\0' && n < SAID_SIZE - 1; text++)
        if (strchr(" \t\r\n", *text) == NULL)
            out[n++] = *text;
        else if (n > 0 && out[n - 1] != ' ')
            out[n++] = ' ';
    while (n > 0 && out[n - 1] == ' ')
        n--;
    out[n] = '\0';
    if (n == 0 || out[n - 1] == ':')
        snprintf(out + n, SAID_SIZE - n, "%s%s", n > 0 ? " " : "", reason);
    return out;
}

static dlock_status fail(const struct postgres_conn *conn, dlock_status st,
                         const char *text)
{
    char said[SAID_SIZE];

    return dlock_fail(st, "%s: %s", conn->label,
                      one_line(text, "did not answer in time", said));
}

/* False: the deadline passed. */
static bool wait_socket(int fd, short events, int64_t deadline_ns)
{
    for (;;) {
        struct pollfd p = {.fd = fd, .events = events, .revents = 0};

        if (poll(&p, 1, dlock_clock_poll_ms(deadline_ns)) > 0)
            return true;
        if (dlock_clock_ns() >= deadline_ns)
            return false;
    }
}

/* The server gives up by itself when we do, so that what we no longer wait for does not
 * happen much later.  A transaction that holds a lock is idle for as long as its holder
 * works. */
static PGconn *start_connecting(const char *url, int timeout_ms)
{
    char guc[160];
    char name[32];
    const char *keys[] = {"dbname",           "application_name",    "options",
                          "keepalives_idle",  "keepalives_interval", "keepalives_count",
                          "tcp_user_timeout", "gssencmode",          NULL};
    const char *values[] = {url, name, guc, "5", "2", "3", "10000", "disable", NULL};

    snprintf(name, sizeof(name), "dlock-%d", (int)getpid());
    snprintf(guc, sizeof(guc),
             "-c statement_timeout=%d -c lock_timeout=0"
             " -c idle_in_transaction_session_timeout=0 -c idle_session_timeout=0",
             timeout_ms);
    return PQconnectStartParams(keys, values, 1);
}

static bool finish_connecting(PGconn *pg, int64_t deadline_ns)
{
    PostgresPollingStatusType want = PGRES_POLLING_WRITING;

    while (want != PGRES_POLLING_OK) {
        if (want == PGRES_POLLING_FAILED ||
            !wait_socket(PQsocket(pg), want == PGRES_POLLING_READING ? POLLIN : POLLOUT,
                         deadline_ns))
            return false;
        want = PQconnectPoll(pg);
    }
    return true;
}

/* libpq would print it, also that a session is being ended.  A notice without a state is
 * libpq's own: the server said something out of turn. */
static void on_notice(void *arg, const PGresult *result)
{
    struct postgres_conn *conn = arg;

    if (PQresultErrorField(result, PG_DIAG_SQLSTATE) == NULL)
        conn->was_told = true;
}

static void set_label(struct postgres_conn *conn)
{
    const char *host = PQhost(conn->pg);
    const char *port = PQport(conn->pg);

    snprintf(conn->label, sizeof(conn->label), "PostgreSQL at %.80s:%.10s",
             host != NULL ? host : "", port != NULL ? port : "");
}

dlock_status postgres_connect(struct postgres_conn **out, const char *url,
                              int timeout_ms)
{
    int64_t deadline_ns = dlock_clock_after(dlock_clock_ns(), timeout_ms);
    struct postgres_conn *conn = calloc(1, sizeof(*conn));
    dlock_status st = DLOCK_OK;

    *out = NULL;
    if (conn != NULL)
        conn->pg = start_connecting(url, timeout_ms);
    if (conn == NULL || conn->pg == NULL) {
        free(conn);
        return dlock_fail(DLOCK_NOMEM, "no memory for a connection");
    }
    (void)PQsetNoticeReceiver(conn->pg, on_notice, conn);
    conn->timeout_ms = timeout_ms;
    set_label(conn);
    if (PQstatus(conn->pg) == CONNECTION_BAD ||
        !finish_connecting(conn->pg, deadline_ns)) {
        const char *said = PQerrorMessage(conn->pg);
        bool refused = strstr(said, "FATAL:") != NULL &&
                       (strstr(said, "authentication") != NULL ||
                        strstr(said, "does not exist") != NULL);

        st = fail(conn, refused ? DLOCK_PROTOCOL : DLOCK_IO, said);
    } else if (PQsetnonblocking(conn->pg, 1) != 0) {
        st = fail(conn, DLOCK_IO, PQerrorMessage(conn->pg));
    }
    if (st != DLOCK_OK) {
        postgres_hang_up(conn);
        return st;
    }
    *out = conn;
    return DLOCK_OK;
}

void postgres_hang_up(struct postgres_conn *conn)
{
    if (conn == NULL)
        return;
    if (conn->pg != NULL)
        PQfinish(conn->pg);
    free(conn);
}

/* Nothing may be read from it any more. */
static dlock_status break_off(struct postgres_conn *conn, dlock_status st,
                              const char *text)
{
    (void)fail(conn, st, text);
    PQfinish(conn->pg);
    conn->pg = NULL;
    return st;
}

static bool flush(PGconn *pg, int64_t deadline_ns)
{
    int left;

    while ((left = PQflush(pg)) == 1)
        if (!wait_socket(PQsocket(pg), POLLOUT, deadline_ns))
            return false;
    return left == 0;
}

/* The next result, NULL after the last; false: none came. */
static bool next_result(PGconn *pg, int64_t deadline_ns, PGresult **out)
{
    while (PQisBusy(pg)) {
        if (!wait_socket(PQsocket(pg), POLLIN, deadline_ns) || PQconsumeInput(pg) != 1)
            return false;
    }
    *out = PQgetResult(pg);
    return true;
}

/* What was sent and is to be answered. */
struct question {
    const char *sql;
    const struct postgres_shape *shape; /* NULL: it was prepared */
    int64_t deadline_ns;
    bool was_open; /* a transaction, before it was asked */
};

/* What an error of the server means.  A session that is being ended (57P01 to 57P05)
 * may have ended after its commit; all other errors roll the statement back. */
static dlock_status judge(const struct postgres_conn *conn, const PGresult *result)
{
    const char *state = PQresultErrorField(result, PG_DIAG_SQLSTATE);
    const char *text = PQresultErrorMessage(result);

    if (state == NULL || strncmp(state, "57P", 3) == 0 || strncmp(state, "08", 2) == 0)
        return fail(conn, DLOCK_UNKNOWN, text);
    if (strcmp(state, "55P03") == 0)
        return DLOCK_BUSY;
    if (strcmp(state, "57014") == 0 || strncmp(state, "53", 2) == 0 ||
        strncmp(state, "40", 2) == 0)
        return fail(conn, DLOCK_IO, text);
    return fail(conn, DLOCK_PROTOCOL, text);
}

/* What one result comes to.  BUSY and some errors leave the connection as it was. */
static dlock_status read_result(const struct postgres_conn *conn, const PGresult *result,
                                const struct question *question,
                                struct postgres_answer *out)
{
    switch (PQresultStatus(result)) {
    case PGRES_TUPLES_OK:
    case PGRES_COMMAND_OK:
        return question->shape == NULL
                   ? DLOCK_OK
                   : postgres_answer_read(result, question->sql, question->shape, out);
    case PGRES_FATAL_ERROR:
        return judge(conn, result);
    default: /* to copy rows, for example */
        return fail(conn, DLOCK_PROTOCOL, "an answer that is none to a statement");
    }
}

/* Is a transaction open exactly if it has to be? */
static bool is_transaction_right(const struct postgres_conn *conn,
                                 const struct question *question, dlock_status st)
{
    PGTransactionStatusType now = PQtransactionStatus(conn->pg);

    bool is_end = strcmp(question->sql, "COMMIT") == 0 ||
                  strcmp(question->sql, "ROLLBACK") == 0;

    if (st != DLOCK_OK)
        return now == (question->was_open && !is_end ? PQTRANS_INERROR : PQTRANS_IDLE);
    if (strcmp(question->sql, "BEGIN") == 0)
        return now == PQTRANS_INTRANS;
    if (is_end)
        return now == PQTRANS_IDLE;
    return now == (question->was_open ? PQTRANS_INTRANS : PQTRANS_IDLE);
}

/* Has the server said more than it was asked?  The next statement would take that for its
 * answer.  No I/O. */
static bool has_said_more(struct postgres_conn *conn)
{
    PGnotify *notice;

    while ((notice = PQnotifies(conn->pg)) != NULL) /* which reads what was received */
        PQfreemem(notice);
    return conn->was_told;
}

/* Read the one result of a question.  An answer that is none to it breaks the
 * connection. */
static dlock_status collect(struct postgres_conn *conn, const struct question *question,
                            struct postgres_answer *out)
{
    dlock_status st = DLOCK_OK;
    PGresult *result = NULL;
    bool is_odd = false;

    if (!flush(conn->pg, question->deadline_ns))
        return break_off(conn, DLOCK_UNKNOWN, "the connection broke, or is stuck");
    for (int count = 0; !is_odd; count++) {
        ExecStatusType kind;

        if (!next_result(conn->pg, question->deadline_ns, &result))
            return break_off(conn, DLOCK_UNKNOWN, "no answer came");
        if (result == NULL) {
            is_odd = count == 0;
            break;
        }
        kind = PQresultStatus(result);
        if (count == 0)
            st = read_result(conn, result, question, out);
        is_odd = count > 0 || (st == DLOCK_PROTOCOL && kind != PGRES_FATAL_ERROR);
        PQclear(result);
    }
    if (PQstatus(conn->pg) != CONNECTION_OK)
        return break_off(conn, st == DLOCK_OK ? DLOCK_OK : DLOCK_UNKNOWN, dlock_error());
    if (!is_odd && is_transaction_right(conn, question, st) && !has_said_more(conn))
        return st;
    return break_off(conn, DLOCK_PROTOCOL,
                     st == DLOCK_PROTOCOL ? dlock_error()
                                          : "an answer that is none to the question");
}

static dlock_status prepare(struct postgres_conn *conn,
                            const struct postgres_statement *statement,
                            int64_t deadline_ns)
{
    const Oid types[POSTGRES_VALUES_MAX] = {BYTEA_OID};
    struct question question = {"PREPARE", NULL, deadline_ns,
                                postgres_is_in_transaction(conn)};
    char name[12];
    dlock_status st;

    if (conn->prepared >> statement->id & 1u)
        return DLOCK_OK;
    snprintf(name, sizeof(name), "s%u", statement->id);
    if (PQsendPrepare(conn->pg, name, statement->sql, statement->value_count, types) !=
        1)
        return break_off(conn, DLOCK_IO, "the connection is broken");
    st = collect(conn, &question, NULL);
    if (st == DLOCK_OK)
        conn->prepared |= 1u << statement->id;
    else if (conn->pg != NULL) /* the server may have it, and would refuse it again */
        (void)break_off(conn, st, dlock_error());
    return st == DLOCK_UNKNOWN ? DLOCK_IO : st; /* it was only being prepared */
}

static bool send_prepared(struct postgres_conn *conn,
                          const struct postgres_statement *statement,
                          const char *const *values)
{
    const int formats[POSTGRES_VALUES_MAX] = {1};
    int lengths[POSTGRES_VALUES_MAX] = {0};
    char name[12];

    snprintf(name, sizeof(name), "s%u", statement->id);
    lengths[0] = (int)strlen(values[0]);
    return PQsendQueryPrepared(conn->pg, name, statement->value_count, values, lengths,
                               formats, 0) == 1;
}

dlock_status postgres_ask(struct postgres_conn *conn,
                          const struct postgres_statement *statement,
                          const char *const *values, int64_t give_up_ns,
                          struct postgres_answer *out)
{
    struct question question = {
        statement->sql, &statement->shape,
        dlock_clock_after(dlock_clock_ns(), conn->timeout_ms),
        postgres_is_in_transaction(conn)};
    struct postgres_answer unread;
    bool sent;
    dlock_status st = DLOCK_OK;

    if (conn->pg == NULL)
        return dlock_fail(DLOCK_IO, "%s: the connection is lost", conn->label);
    if (postgres_is_gone(conn))
        return break_off(conn, DLOCK_IO, "the server hung up");
    if (give_up_ns < question.deadline_ns)
        question.deadline_ns = give_up_ns;
    if (statement->value_count > 0)
        st = prepare(conn, statement, question.deadline_ns);
    if (st != DLOCK_OK)
        return st;
    dlock_commands_sent++;
    sent = statement->value_count > 0 ? send_prepared(conn, statement, values)
                                      : PQsendQuery(conn->pg, statement->sql) == 1;
    if (!sent)
        return break_off(conn, DLOCK_UNKNOWN, PQerrorMessage(conn->pg));
    st = collect(conn, &question, out != NULL ? out : &unread);
    if (st == DLOCK_BUSY && !statement->may_wait)
        return dlock_fail(DLOCK_IO, "%s: a lock was not to be had", conn->label);
    return st;
}

dlock_status postgres_limit_wait(struct postgres_conn *conn, int64_t until_ns,
                                 int64_t give_up_ns)
{
    char sql[48];
    struct postgres_statement set = {.sql = sql};
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
    struct pollfd p = {.events = POLLIN};

    if (conn->pg == NULL)
        return true;
    p.fd = PQsocket(conn->pg);
    return PQstatus(conn->pg) != CONNECTION_OK || poll(&p, 1, 0) > 0;
}

bool postgres_is_in_transaction(const struct postgres_conn *conn)
{
    return conn->pg != NULL && PQtransactionStatus(conn->pg) != PQTRANS_IDLE;
}

int postgres_backend_pid(const struct postgres_conn *conn)
{
    return conn->pg != NULL ? PQbackendPID(conn->pg) : 0;
}
