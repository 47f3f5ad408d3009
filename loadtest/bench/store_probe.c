/* SPDX-License-Identifier: MIT */
/* store_probe.c -- sends a lock's store its smallest request. */
#include "loadtest/bench/store_probe.h"

#include <stdlib.h>

#include "base/text/duration.h"
#include "loadtest/probe/blocking.h"

struct store_probe { /* one of the three is not NULL */
    struct blocking *redis;
    lab_db *database;
    dlock_system *other;
    const char *variant;
};

static enum dlock_store store_of(const char *variant)
{
    return dlock_store_of(dlock_variant_find(variant));
}

const char *store_probe_question(const char *variant)
{
    const char *question = dlock_store_row(store_of(variant))->question;

    return question ? question : "dlock_check()";
}

static bool open_database(const struct bench_locks *b, lab_db **out)
{
    char url[256], error[512];

    lab_database_url(b->lab, url, sizeof url);
    if (lab_db_open(out, url, error, sizeof error))
        return true;
    eprintf("seckill bench-locks: %s\n", error);
    return false;
}

struct store_probe *store_probe_open(const struct bench_locks *b, const char *variant)
{
    struct store_probe *probe = calloc(1, sizeof *probe);
    enum dlock_store store = store_of(variant);
    bool ok;

    if (!probe)
        abort();
    probe->variant = variant;
    if (store == DLOCK_STORE_REDIS || store == DLOCK_STORE_REDIS_NODES)
        ok = (probe->redis = blocking_open(b->lab, lab_store_role(store))) != NULL;
    else if (store == DLOCK_STORE_POSTGRES)
        ok = open_database(b, &probe->database);
    else
        ok = bench_open(b, variant, &probe->other);
    if (ok)
        return probe;
    store_probe_close(probe);
    return NULL;
}

void store_probe_close(struct store_probe *probe)
{
    if (!probe)
        return;
    blocking_close(probe->redis);
    lab_db_close(probe->database);
    dlock_close(probe->other);
    free(probe);
}

static bool ask_other(struct store_probe *probe)
{
    dlock_status st = dlock_check(probe->other);

    return st == DLOCK_OK || bench_complain(probe->variant, "check", st);
}

static bool ask_database(struct store_probe *probe)
{
    if (lab_db_run(probe->database, "SELECT 1"))
        return true;
    eprintf("seckill bench-locks: %s\n", lab_db_error(probe->database));
    return false;
}

int64_t store_probe_trip_ns(struct store_probe *probe)
{
    int64_t begin_ns = monotonic_ns();
    bool ok;

    if (probe->redis)
        return blocking_ping_ns(probe->redis);
    ok = probe->database ? ask_database(probe) : ask_other(probe);
    return ok ? monotonic_ns() - begin_ns : -1;
}
