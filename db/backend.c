/* SPDX-License-Identifier: MIT */
/* backend.c -- finds and ends the server's backend processes. */
#include "db/backend.h"

#include <stdio.h>
#include <stdlib.h>

#include "db/lab_db_ask.h"

/* The backends that hold a lock of pg-advisory or pg-row, by the keys that these
 * variants use. */
#define HOLDERS                                                                        \
    "SELECT DISTINCT l.pid FROM pg_locks AS l WHERE l.granted AND ("                   \
    " (l.locktype = 'advisory' AND l.objsubid = 1 AND l.database ="                    \
    "   (SELECT oid FROM pg_database WHERE datname = current_database())"              \
    "   AND (l.classid::bigint << 32 | l.objid::bigint) ="                             \
    "   hashtextextended(encode(convert_to($1, 'UTF8'), 'escape'), 0))"                \
    " OR (l.locktype = 'transactionid' AND l.transactionid = (SELECT r.xmax FROM"      \
    "   dlock_row AS r WHERE r.name = convert_to($1, 'UTF8'))))"
#define ORDERING                                                                       \
    "SELECT pid FROM pg_stat_activity WHERE usename = 'seckill_service'"               \
    " AND datname = current_database() AND xact_start IS NOT NULL AND $1::text IS NULL"

bool db_backends_of(lab_db *db, const char *name, int pids[DB_BACKENDS_MAX],
                    size_t *count)
{
    struct postgres_result *result = lab_db_ask(db, name ? HOLDERS : ORDERING, 1, &name);
    int rows = result ? postgres_result_rows(result) : 0;

    *count = 0;
    for (int i = 0; i < rows && *count < DB_BACKENDS_MAX; i++)
        pids[(*count)++] = atoi(postgres_result_text(result, i, 0));
    postgres_result_free(result);
    return result != NULL;
}

bool db_backend_end(lab_db *db, int pid, bool *gone)
{
    char number[16];
    const char *values[] = {number};
    struct postgres_result *result;

    snprintf(number, sizeof number, "%d", pid);
    result = lab_db_ask(db, "SELECT pg_terminate_backend($1::int, 5000)", 1, values);
    postgres_result_free(result);
    if (!result)
        return false;
    result =
        lab_db_ask(db, "SELECT 1 FROM pg_stat_activity WHERE pid = $1::int", 1, values);
    *gone = result && postgres_result_rows(result) == 0;
    postgres_result_free(result);
    return result != NULL;
}

bool db_process_of(lab_db *db, const char *type, const char *client, int *pid)
{
    const char *params[] = {type, client};
    struct postgres_result *result = lab_db_ask(
        db,
        "SELECT pid FROM pg_stat_activity WHERE backend_type = $1"
        " AND application_name = $2",
        2, params);
    bool ok = result && postgres_result_rows(result) == 1;

    *pid = ok ? atoi(postgres_result_text(result, 0, 0)) : 0;
    postgres_result_free(result);
    return ok;
}

bool db_service_limit(lab_db *db, int *limit)
{
    struct postgres_result *result = lab_db_ask(
        db, "SELECT rolconnlimit FROM pg_roles WHERE rolname = 'seckill_service'", 0, NULL);
    bool ok = result && postgres_result_rows(result) == 1;

    if (ok)
        *limit = atoi(postgres_result_text(result, 0, 0));
    postgres_result_free(result);
    return ok;
}

bool db_limit_service(lab_db *db, int limit)
{
    char sql[64];

    snprintf(sql, sizeof sql, "ALTER ROLE seckill_service CONNECTION LIMIT %d", limit);
    return lab_db_run(db, sql);
}

bool db_start_time(lab_db *db, char out[DB_START_MAX])
{
    struct postgres_result *result = lab_db_ask(db, "SELECT pg_postmaster_start_time()", 0, NULL);

    if (result)
        snprintf(out, DB_START_MAX, "%s", postgres_result_text(result, 0, 0));
    postgres_result_free(result);
    return result != NULL;
}
