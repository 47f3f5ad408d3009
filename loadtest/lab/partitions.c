/* SPDX-License-Identifier: MIT */
/* partitions.c -- several databases in the lab's PostgreSQL, over which vouchers are spread. */
#include "loadtest/lab/lab.h"

#include <stdio.h>
#include <string.h>

#include "db/lab_db.h"
#include "gen/schema_sql.h"

/* Run one statement where that URL leads.  False: the reason is on stderr. */
static bool run_at(const char *url, const char *sql)
{
    char error[512] = "";
    lab_db *db = NULL;
    bool ok = lab_db_open(&db, url, error, sizeof error);

    if (ok && !lab_db_run(db, sql)) {
        snprintf(error, sizeof error, "%s", lab_db_error(db));
        ok = false;
    }
    lab_db_close(db);
    if (!ok)
        eprintf("seckill: cannot make a partition: %s\n", error);
    return ok;
}

static bool make_database(const struct lab *lab, int partition)
{
    char url[LAB_DATABASE_URL_MAX], sql[64];

    lab_database_url(lab, url, sizeof url);
    snprintf(sql, sizeof sql, "CREATE DATABASE seckill_%d", partition);
    if (!run_at(url, sql))
        return false;
    lab_partition_url(lab, partition, url, sizeof url);
    return run_at(url, SCHEMA_SQL);
}

/* Every database has to know how many there are. */
static bool tell_all(const struct lab *lab, int count)
{
    char url[LAB_DATABASE_URL_MAX], sql[64];

    for (int i = 0; i < count; i++) {
        lab_partition_url(lab, i, url, sizeof url);
        snprintf(sql, sizeof sql, "SELECT become_partition(%d, %d)", i, count);
        if (!run_at(url, sql))
            return false;
    }
    return true;
}

enum exit_code lab_spread(struct lab *lab, int count)
{
    bool was_held = false;
    bool ok;

    if (count < lab->partition_count) {
        eprintf("seckill: the lab has %d partitions already, and none is taken away; take the "
                "lab down first\n", lab->partition_count);
        return EXIT_USAGE;
    }
    if (count == lab->partition_count)
        return EXIT_VALID;
    if (!lab_change_begin(lab, &was_held))
        return EXIT_UNAVAILABLE;
    ok = true;
    for (int i = lab->partition_count; ok && i < count; i++)
        ok = make_database(lab, i);
    ok = ok && tell_all(lab, count);
    if (ok) {
        lab->partition_count = count;
        ok = lab_state_write(lab) && lab_env_write(lab);
    }
    lab_change_end(lab, was_held);
    return ok ? EXIT_VALID : EXIT_UNAVAILABLE;
}
