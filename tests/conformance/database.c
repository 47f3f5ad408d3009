/* SPDX-License-Identifier: MIT */
/* database.c -- reads and changes the PostgreSQL of a variant directly, without the
 * library. */
#include "tests/conformance/database.h"

#include <libpq-fe.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tests/conformance/rig.h"

enum { STOPPED_MAX = 8, BYTEA_OID = 17 };

static PGconn *side;
static int stopped[STOPPED_MAX];
static int stopped_count;

const char *database_tell(const char *sql, const char *name)
{
    static char value[128];
    const Oid types[] = {BYTEA_OID};
    const char *values[] = {name};
    const int lengths[] = {name != NULL ? (int)strlen(name) : 0};
    const int formats[] = {1};
    PGresult *result;
    bool ok;

    if (side == NULL)
        side = PQconnectdb(getenv("SECKILL_LAB_DATABASE_URL"));
    result = PQexecParams(side, sql, name != NULL ? 1 : 0, types, values, lengths,
                          formats, 0);
    ok = PQresultStatus(result) == PGRES_TUPLES_OK ||
         PQresultStatus(result) == PGRES_COMMAND_OK;
    if (!ok)
        print_error("%s: %s\n", sql, PQerrorMessage(side));
    value[0] = '\0';
    if (PQntuples(result) > 0)
        snprintf(value, sizeof(value), "%s", PQgetvalue(result, 0, 0));
    PQclear(result);
    assert_true(ok);
    return value;
}

long long database_ask(const char *sql, const char *name)
{
    return strtoll(database_tell(sql, name), NULL, 10);
}

long long database_count_rows(const char *name)
{
    return database_ask("SELECT (SELECT count(*) FROM dlock_lock WHERE name = $1)"
                        " + (SELECT count(*) FROM dlock_row WHERE name = $1)"
                        " + (SELECT count(*) FROM dlock_queue WHERE name = $1)",
                        name);
}

long long database_count_backends(const char *condition)
{
    char sql[400];

    snprintf(sql, sizeof(sql),
             "SELECT count(*) FROM pg_stat_activity"
             " WHERE application_name = 'dlock-%d' AND %s",
             (int)getpid(), condition);
    return database_ask(sql, NULL);
}

void database_stop_backend(int pid)
{
    assert_true(pid > 1 && stopped_count < STOPPED_MAX);
    assert_int_equal(0, kill(pid, SIGSTOP));
    stopped[stopped_count++] = pid;
}

void database_wake(void)
{
    while (stopped_count > 0)
        kill(stopped[--stopped_count], SIGCONT);
}

void database_stop(void)
{
    PQfinish(side);
    side = NULL;
}
