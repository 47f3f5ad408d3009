/* SPDX-License-Identifier: MIT */
/* replication.c -- asks and changes the role of a PostgreSQL server in replication. */
#include "db/replication.h"

#include <stdio.h>
#include <string.h>

#include "db/lab_db_ask.h"

bool db_replication_role(lab_db *db, enum db_role *role)
{
    static const char ASK[] =
        "SELECT CASE WHEN NOT pg_is_in_recovery() THEN 'primary' WHEN EXISTS (SELECT FROM"
        " pg_stat_wal_receiver WHERE status = 'streaming') THEN 'streaming' ELSE 'alone' END";
    struct postgres_result *result = lab_db_ask(db, ASK, 0, NULL);
    const char *said = result ? postgres_result_text(result, 0, 0) : "";

    *role = strcmp(said, "primary") == 0     ? DB_ROLE_PRIMARY
            : strcmp(said, "streaming") == 0 ? DB_ROLE_STREAMING
                                             : DB_ROLE_ALONE;
    postgres_result_free(result);
    return result != NULL;
}

bool db_replication_has_all(lab_db *db, bool *has_all)
{
    struct postgres_result *result = lab_db_ask(
        db,
        "SELECT coalesce(bool_and(flush_lsn >= pg_current_wal_lsn()), false)"
        " FROM pg_stat_replication",
        0, NULL);

    *has_all = result && postgres_result_text(result, 0, 0)[0] == 't';
    postgres_result_free(result);
    return result != NULL;
}

bool db_replication_wait_for(lab_db *db, const char *standby)
{
    char sql[96];

    snprintf(sql, sizeof sql, "ALTER SYSTEM SET synchronous_standby_names = '%.32s'",
             standby ? standby : "");
    return lab_db_run(db, sql) && lab_db_run(db, "SELECT pg_reload_conf()");
}

bool db_replication_promote(lab_db *db)
{
    struct postgres_result *result = lab_db_ask(db, "SELECT pg_promote(true, 30)", 0, NULL);
    bool ok = result && postgres_result_text(result, 0, 0)[0] == 't';

    if (result && !ok)
        snprintf(db->error, sizeof db->error, "the standby was not promoted within 30 s");
    postgres_result_free(result);
    return ok;
}
