/* SPDX-License-Identifier: MIT */
/* limits.c -- the timeouts of statements, of waits for a row's lock, and of idle
 * transactions, the isolation of transactions, and the mark of a session.  A session keeps
 * its plans; with seqscan, those of small tables would read big ones later.
 *
 * The statements of an order are made for READ COMMITTED.  Under another level a
 * statement that has waited for a row of another order fails.
 *
 * Without a pooler a session gets the settings when it is opened.  A pooler refuses
 * settings in the opening.  With a pooler of sessions they are set once after it.  With
 * a pooler of transactions they are set in each transaction, and end with it.  Only the
 * isolation cannot be set there, because the statement that sets the timeouts has taken
 * a snapshot; the service refuses to start with another level (db/sale_needs.h). */
#include <stdio.h>

#include "db/conn_private.h"

static int lock_timeout_ms(const struct db_conn *db)
{
    return db->opts.statement_timeout_ms - db->opts.statement_timeout_ms / 5;
}

const char *db_limits_at_start(const struct db_conn *db, char out[DB_SETTINGS_MAX])
{
    if (db->opts.pooler != POSTGRES_POOLER_NONE)
        return NULL;
    (void)snprintf(out, DB_SETTINGS_MAX,
                   "-c statement_timeout=%d -c lock_timeout=%d"
                   " -c idle_in_transaction_session_timeout=%d -c TimeZone=UTC"
                   " -c default_transaction_isolation=read\\ committed"
                   " -c enable_seqscan=off -c jit=off%s",
                   db->opts.statement_timeout_ms, lock_timeout_ms(db),
                   db->opts.idle_timeout_ms,
                   db->opts.commits_lazily ? " -c synchronous_commit=off" : "");
    return out;
}

/* A server that has started again has no marks, until each service opens a session. */
static const char LOOK_FOR_OTHERS[] =
    "; DO $$DECLARE other text; BEGIN SELECT coalesce(a.application_name, '?') INTO other"
    " FROM pg_locks AS mark LEFT JOIN pg_stat_activity AS a ON a.pid = mark.pid"
    " WHERE locktype = 'advisory' AND objsubid = 2 AND classid::bigint = %d AND objid <> 0"
    " AND mark.database = (SELECT oid FROM pg_database WHERE datname = current_database())"
    " AND (objid::bigint | %d) >= %d AND (objid::bigint # %d) %% %d <> 0 LIMIT 1; IF FOUND THEN"
    " RAISE object_in_use USING message = format('the service %%s sells from this database with"
    " other settings; stop one of the two (docs/how-to/upgrade.md)', other); END IF; END$$";

bool db_limits_set(struct db_conn *db, int64_t deadline_ns)
{
    const int mark = db->opts.mark, binds = db->opts.mark_binds;
    struct postgres_wire *wire = postgres_connection_wire(db->open);
    struct postgres_result *result = NULL;
    bool is_read = false, is_set = true;
    char sql[DB_SETTINGS_MAX + sizeof(LOOK_FOR_OTHERS) + 60];
    int len;

    if (db->opts.pooler == POSTGRES_POOLER_TRANSACTION ||
        (db->opts.pooler == POSTGRES_POOLER_NONE && mark == 0))
        return true;
    len = snprintf(sql, sizeof(sql),
                   "SET statement_timeout = %d; SET lock_timeout = %d;"
                   " SET idle_in_transaction_session_timeout = %d; SET TimeZone = 'UTC';"
                   " SET default_transaction_isolation = 'read committed';"
                   " SET enable_seqscan = off; SET jit = off;"
                   " SELECT pg_advisory_lock_shared(%d, %d)",
                   db->opts.statement_timeout_ms, lock_timeout_ms(db),
                   db->opts.idle_timeout_ms, DB_MARKS, mark);
    if (mark != 0 && binds != 0)
        (void)snprintf(sql + len, sizeof(sql) - (size_t)len, LOOK_FOR_OTHERS, DB_MARKS, mark,
                       binds, mark, binds);
    if (!postgres_wire_put_query(wire, sql) || !postgres_wire_send(wire, deadline_ns))
        return false;
    while ((is_read = postgres_wire_receive(wire, deadline_ns, &result)) && result != NULL) {
        is_set = is_set && postgres_result_kind(result) != POSTGRES_RESULT_ERROR;
        if (!is_set)
            db_keep_refusal(db, result);
        postgres_result_free(result);
    }
    return is_read && is_set;
}

bool db_limits_put(struct db_conn *db, bool *is_put)
{
    static const struct postgres_statement LIMIT = {
        "limit_transaction",
        "SELECT set_config('statement_timeout', $1::bigint::text, true),"
        " set_config('lock_timeout', $2::bigint::text, true),"
        " set_config('idle_in_transaction_session_timeout', $3::bigint::text, true),"
        " set_config('TimeZone', 'UTC', true)",
        "iii"};

    *is_put = db->opts.pooler == POSTGRES_POOLER_TRANSACTION;
    if (!*is_put)
        return true;
    return postgres_connection_execute(
        db->open, &LIMIT,
        DB_VALUES(DB_INT(db->opts.statement_timeout_ms), DB_INT(lock_timeout_ms(db)),
                  DB_INT(db->opts.idle_timeout_ms)));
}
