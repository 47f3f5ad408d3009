/* SPDX-License-Identifier: MIT */
/* postgres_opening.c -- a connection to PostgreSQL from its first packet to its first
 * question, and its end. */
#include <stdio.h>
#include <stdlib.h>

#include "base/os/clock.h"
#include "base/os/fork.h"
#include "lock/stores/postgres_inside.h"
#include "lock/stores/postgres_question.h"

enum { ANSWER_MAX = 1 << 20 }; /* every statement of a lock answers one row */

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
    char address[POSTGRES_LABEL_SIZE - 16];

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
                   : dlock_postgres_fail(conn, DLOCK_IO, "the connection broke");
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
    return dlock_postgres_fail(conn, is_final ? DLOCK_PROTOCOL : DLOCK_IO, said);
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
