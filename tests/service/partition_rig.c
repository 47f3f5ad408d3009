/* SPDX-License-Identifier: MIT */
/* partition_rig.c -- databases of the test's own, each a partition. */
#include "tests/service/partition_rig.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "gen/postgres_sql.h"
#include "gen/schema_sql.h"

enum {
    URLS_MAX = PARTS_MOST * PARTS_URL_MAX,
    PARTS_STATEMENT_MS = 120000, /* a busy machine takes long to make and to drop a database */
};

struct parts parts;

struct db_conn *parts_connect(const char *url)
{
    struct db_options opts = db_options_default(url);
    struct db_conn *db;

    opts.statement_timeout_ms = PARTS_STATEMENT_MS;
    db = db_new(&opts);

    assert_non_null(db);
    if (db_connect(db) != DB_OK)
        fail_msg("%s", db_error(db));
    return db;
}

void parts_run(const char *url, const char *script)
{
    struct db_conn *db = parts_connect(url);

    if (db_script(db, script) != DB_OK)
        fail_msg("%s: %s", script, db_error(db));
    db_free(db);
}

int64_t parts_number(size_t partition, const char *sql)
{
    const struct postgres_statement statement = {"test_number", sql, ""};
    struct db_conn *db = parts_connect(parts.owners[partition]);
    int64_t number;

    if (db_run_one(db, &statement, NULL) != DB_OK)
        fail_msg("%s: %s", sql, db_error(db));
    number = db_int(db, 0, 0, 0);
    db_free(db);
    return number;
}

/* A URL with another database. */
static void url_of(const char *name, const char *database, char out[PARTS_URL_MAX])
{
    const char *url = rig_environment(name);

    (void)snprintf(out, PARTS_URL_MAX, "%.*s/%s", (int)(strrchr(url, '/') - url), url, database);
}

/* Make a partition. Only the first one has the tables of the locks. */
static void partition_make(size_t i)
{
    char sql[400];

    (void)snprintf(parts.names[i], sizeof(parts.names[i]), "part_%d_%zu_of_%zu", (int)getpid(), i,
                   parts.count);
    url_of("SECKILL_LAB_DATABASE_URL", parts.names[i], parts.owners[i]);
    url_of("SECKILL_DATABASE_URL", parts.names[i], parts.services[i]);
    (void)snprintf(sql, sizeof(sql), "CREATE DATABASE %s TEMPLATE template0", parts.names[i]);
    parts_run(rig_environment("SECKILL_LAB_DATABASE_URL"), sql);
    if (i == 0)
        parts_run(parts.owners[i], POSTGRES_SQL);
    parts_run(parts.owners[i], SCHEMA_SQL);
    (void)snprintf(sql, sizeof(sql), "SELECT become_partition(%zu, %zu)", i, parts.count);
    parts_run(parts.owners[i], sql);
}

int parts_make(void **state)
{
    (void)state;
    for (size_t i = 0; i < parts.count; i++)
        partition_make(i);
    return 0;
}

static void partition_drop(size_t i)
{
    char sql[400];

    (void)snprintf(sql, sizeof(sql), "DROP DATABASE IF EXISTS %s WITH (FORCE)", parts.names[i]);
    parts_run(rig_environment("SECKILL_LAB_DATABASE_URL"), sql);
}

int parts_drop(void **state)
{
    (void)state;
    for (size_t i = 0; i < parts.count; i++)
        partition_drop(i);
    return 0;
}

const char *parts_flag(const size_t *order, size_t n)
{
    static char flag[URLS_MAX + 32];
    size_t len = (size_t)snprintf(flag, sizeof(flag), "--database-url=");

    for (size_t i = 0; i < n; i++)
        len += (size_t)snprintf(flag + len, sizeof(flag) - len, "%s%s", i > 0 ? " " : "",
                                parts.services[order[i]]);
    return flag;
}

const char *parts_flag_all(void)
{
    static const size_t IN_ORDER[PARTS_MOST] = {0, 1, 2, 3};

    return parts_flag(IN_ORDER, parts.count);
}

int64_t parts_voucher(size_t partition, int64_t stock)
{
    char sql[300];

    (void)snprintf(sql, sizeof(sql),
                   "WITH v AS (INSERT INTO tb_voucher (title, pay_value, actual_value)"
                   " VALUES ('test', 1, 2) RETURNING id) INSERT INTO tb_seckill_voucher"
                   " (voucher_id, stock, begin_time, end_time) SELECT id, %lld,"
                   " now() - interval '1 hour', now() + interval '1 hour' FROM v"
                   " RETURNING voucher_id",
                   (long long)stock);
    return parts_number(partition, sql);
}

void parts_shut(size_t partition, bool is_shut)
{
    char sql[300];

    (void)snprintf(sql, sizeof(sql), "ALTER DATABASE %s ALLOW_CONNECTIONS %s",
                   parts.names[partition], is_shut ? "false" : "true");
    parts_run(rig_environment("SECKILL_LAB_DATABASE_URL"), sql);
    (void)snprintf(sql, sizeof(sql),
                   "SELECT pg_terminate_backend(pid) FROM pg_stat_activity"
                   " WHERE datname = '%s'",
                   parts.names[partition]);
    if (is_shut) /* after the ALTER DATABASE was committed, so that no client can connect again */
        parts_run(rig_environment("SECKILL_LAB_DATABASE_URL"), sql);
}
