/* SPDX-License-Identifier: MIT */
/* scratch_database.c -- makes a database with the schema for one test program, in the lab's
 * PostgreSQL. */
#include "tests/service/scratch_database.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "gen/schema_sql.h"

enum { URL_MAX = 512 };

static char lab_url[URL_MAX], url[URL_MAX], database[64];

bool scratch_database_make(const char *name, lab_db **db)
{
    const char *lab = getenv("SECKILL_LAB_DATABASE_URL");
    char sql[128], error[512];
    lab_db *server;
    bool ok;

    if (!lab || strlen(lab) >= sizeof lab_url || !strrchr(lab, '/'))
        return false;
    snprintf(lab_url, sizeof lab_url, "%s", lab);
    snprintf(database, sizeof database, "%s_%d", name, (int)getpid());
    snprintf(url, sizeof url, "%.*s/%s", (int)(strrchr(lab, '/') - lab), lab, database);
    if (!lab_db_open(&server, lab_url, error, sizeof error))
        return false;
    snprintf(sql, sizeof sql, "CREATE DATABASE %s TEMPLATE template0", database);
    ok = lab_db_run(server, sql);
    lab_db_close(server);
    return ok && lab_db_open(db, url, error, sizeof error) && lab_db_run(*db, SCHEMA_SQL) &&
           lab_db_run(*db, "SET synchronous_commit TO off");
}

const char *scratch_database_url(void)
{
    return url;
}

bool scratch_database_drop(lab_db **db)
{
    char sql[128], error[512];
    lab_db *server;
    bool ok;

    lab_db_close(*db);
    *db = NULL;
    ok = lab_db_open(&server, lab_url, error, sizeof error);
    snprintf(sql, sizeof sql, "DROP DATABASE IF EXISTS %s WITH (FORCE)", database);
    ok = ok && lab_db_run(server, sql);
    lab_db_close(server);
    return ok;
}
