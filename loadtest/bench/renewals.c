/* SPDX-License-Identifier: MIT */
/* renewals.c -- many holds of one process over a slow link: does the watchdog lose one? */
#include "loadtest/bench/locks.h"

#include <stdatomic.h>
#include <string.h>
#include <unistd.h>

#include "loadtest/bench/cell.h"
#include "loadtest/kit/spread.h"
#include "loadtest/proxy/proxy.h"
#include "lock/dlock_async.h"
#include "lock/dlock_metrics.h"

#define VARIANT "reentrant"

/* The link holds each byte back for 5 ms in each direction. */
#define LINK "delay:5ms to-server; delay:5ms to-client"

enum {
    HOLDS = 10000,
    IN_FLIGHT = 500, /* acquires */
    LEASE_MS = 3000,
    LINK_MS = 5,
    LEASES = 3,      /* the holds are kept for so many leases, and for duration_ms */
};

struct score {
    double per_s;
    uint64_t lost;
};

static atomic_int granted_count, failed_count;

static void renewals_granted(dlock_status st, dlock_lease *lease, void *arg)
{
    (void)lease;
    (void)arg;
    if (st != DLOCK_OK && atomic_fetch_add(&failed_count, 1) == 0)
        (void)bench_complain(VARIANT, "acquire", st);
    atomic_fetch_add(&granted_count, 1);
}

/* Acquire HOLDS locks, whose names no other round has.  Their owners are asynchronous calls, so all
 * are held until the system is closed. */
static bool acquire_all(dlock_async *async)
{
    char name[48];

    for (int i = 0; i < HOLDS; i++) {
        snprintf(name, sizeof name, "bench:renewals:%d:%d", (int)getpid(), i);
        if (dlock_async_acquire(async, name, NULL, NULL, renewals_granted, NULL, NULL) !=
            DLOCK_OK)
            return false;
        while (i + 1 - atomic_load(&granted_count) >= IN_FLIGHT)
            (void)usleep(1000);
    }
    while (atomic_load(&granted_count) < HOLDS)
        (void)usleep(1000);
    return atomic_load(&failed_count) == 0;
}

static enum exit_code renewals_hold(dlock_system *sys, int64_t hold_ms, struct score *score)
{
    dlock_metrics before, after;
    dlock_async *async = NULL;
    enum exit_code rc = EXIT_INVALID;

    if (dlock_async_open(&async, sys, DLOCK_ASYNC_THREAD) == DLOCK_OK && acquire_all(async)) {
        dlock_metrics_read(sys, &before);
        (void)usleep((useconds_t)hold_ms * 1000);
        dlock_metrics_read(sys, &after);
        score->per_s =
            (double)(after.renewals - before.renewals) / ((double)hold_ms / 1000);
        score->lost = after.lost;
        rc = EXIT_VALID;
    }
    (void)dlock_async_close(async);
    return rc;
}

static enum exit_code renewals_cell(const void *arg, void *shared)
{
    const struct bench_locks *b = arg;
    static struct lab lab;
    char target[32], why[PROXY_WHY_MAX];
    struct proxy_options options = {.target = target, .protocol = PROXY_REDIS};
    enum exit_code rc = EXIT_UNAVAILABLE;
    struct proxy *proxy = NULL;
    dlock_system *sys = NULL;

    lab = *b->lab;
    snprintf(target, sizeof target, "127.0.0.1:%d", lab_server(&lab, LAB_REDIS, 0)->port);
    if (!proxy_open(&proxy, &options, why) || proxy_arm_script(proxy, LINK, why) < 0)
        eprintf("seckill bench-locks: no slow link: %s\n", why);
    else if (bench_open_by(b, VARIANT, proxy_port(proxy), LEASE_MS, &sys))
        rc = renewals_hold(sys, LEASES * LEASE_MS + b->duration_ms, shared);
    dlock_close(sys);
    proxy_close(proxy);
    return rc;
}

enum exit_code bench_renewals(struct bench_locks *b)
{
    struct score *shared = cell_share(sizeof *shared);
    double per_s[BENCH_ROUNDS_MAX];
    enum exit_code rc = EXIT_VALID;
    struct spread spread;
    uint64_t lost = 0;
    json_t *row, *list;

    for (int r = 0; r < b->rounds && rc == EXIT_VALID; r++) {
        struct child child;

        bench_progress(b, r, "%d holds over a slow link", HOLDS);
        rc = cell_start(&child, renewals_cell, b, shared)
                 ? cell_wait(&child, bench_limit_ms(LEASES * LEASE_MS + b->duration_ms),
                             "renewals")
                 : EXIT_BUG;
        per_s[r] = shared->per_s;
        lost += shared->lost;
    }
    cell_unshare(shared, sizeof *shared);
    if (rc != EXIT_VALID)
        return rc;
    spread = spread_of(per_s, (size_t)b->rounds);
    row = json_pack("{s:s, s:i, s:i, s:i, s:o, s:I}", "lock", VARIANT, "holds", HOLDS, "lease_ms",
                    LEASE_MS, "one_way_ms", LINK_MS, "renewals_per_s", spread_json(spread), "lost",
                    (json_int_t)lost);
    fprintf(b->tables,
            "\nHolds of one process with a lease of %d s, over a link of %d ms each way: renewals\n"
            "per second (least - most), and the holds that were lost in all rounds\n\n"
            "%-9s %7s %8s %17s %6s  %s\n%-9s %7d %8.0f %8.0f - %6.0f %6llu  0 %s\n",
            LEASE_MS / 1000, LINK_MS, "lock", "holds", "renewals", "", "lost", "target", VARIANT,
            HOLDS, spread.median, spread.least, spread.most, (unsigned long long)lost,
            bench_judge(b, lost == 0));
    json_object_set_new(row, "target", json_integer(0));
    json_object_set_new(row, "reached", json_boolean(lost == 0));
    list = json_array();
    json_array_append_new(list, row);
    json_object_set_new(b->results, "renewals", list);
    return EXIT_VALID;
}
