/* SPDX-License-Identifier: MIT */
/* store_probe.c -- asks a lock's store by hand. */
#include "loadtest/bench/store_probe.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/text/duration.h"
#include "db/audit.h"
#include "loadtest/kit/http_client.h"
#include "loadtest/probe/blocking.h"

enum { METRICS_MS = 5000 };

struct store_probe { /* one of the three is not NULL */
    struct blocking *redis;
    lab_db *database;
    dlock_system *other;
    const char *variant;
    int zookeeper_port, etcd_port; /* 0: it is none                                 */
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
    fprintf(stderr, "seckill bench-locks: %s\n", error);
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
        ok = bench_open(b, variant, 0, &probe->other);
    if (store == DLOCK_STORE_ZOOKEEPER)
        probe->zookeeper_port = lab_port(b->lab, LAB_ZOOKEEPER, 0);
    if (store == DLOCK_STORE_ETCD)
        probe->etcd_port = lab_port(b->lab, LAB_ETCD, 0);
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
    fprintf(stderr, "seckill bench-locks: %s\n", lab_db_error(probe->database));
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

static int64_t count_nodes(int port)
{
    static const char word[] = "Node count: ";
    char answer[2048];
    const char *found =
        lab_zookeeper_ask(port, "srvr", answer, sizeof answer) ? strstr(answer, word)
                                                               : NULL;

    if (found)
        return strtoll(found + strlen(word), NULL, 10);
    fprintf(stderr, "seckill bench-locks: zookeeper: %s\n", strerror(errno));
    return -1;
}

static int64_t count_keys(int port)
{
    static const char word[] = "\netcd_debugging_mvcc_keys_total ";
    char url[64], *metrics;
    const char *found;
    int64_t count = -1;

    snprintf(url, sizeof url, "http://127.0.0.1:%d/metrics", port);
    metrics = http_client_read(url, NULL, METRICS_MS);
    found = metrics ? strstr(metrics, word) : NULL;
    if (found)
        count = (int64_t)strtod(found + strlen(word), NULL); /* 100000 is written as 1e+05 */
    else
        fprintf(stderr, "seckill bench-locks: etcd: no number of keys at %s\n", url);
    free(metrics);
    return count;
}

int64_t store_probe_count(struct store_probe *probe)
{
    int64_t count = 0;

    if (probe->redis)
        return blocking_count_keys(probe->redis);
    if (probe->zookeeper_port != 0)
        return count_nodes(probe->zookeeper_port);
    if (probe->etcd_port != 0)
        return count_keys(probe->etcd_port);
    if (!probe->database || audit_db_lock_rows(probe->database, &count))
        return count;
    fprintf(stderr, "seckill bench-locks: %s\n", lab_db_error(probe->database));
    return -1;
}
