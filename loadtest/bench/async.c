/* SPDX-License-Identifier: MIT */
/* async.c -- pairs of acquire and release by one thread, through the asynchronous interface,
 * beside redis-benchmark with a pipeline, which shows the limit of the server. */
#include <time.h>

#include "loadtest/bench/cell.h"
#include "loadtest/bench/locks.h"
#include "loadtest/bench/redis_limit.h"
#include "loadtest/kit/spread.h"
#include "lock/dlock_async.h"

enum {
    PIPELINE = 64,
    CONNECTIONS = 64,
    FLIGHT_MAX = 1024,
    WARM_UP_PAIRS = 2,
    GUESS_PER_S = 300000
};

static const struct contest {
    const char *variant;
    int in_flight;
    double target; /* times redis-benchmark; 0: none */
} contests[] = {
    {"lua", 1, 0},       {"lua", 8, 0},    {"lua", 64, 0.75},
    {"lua", 256, 1.0},   {"lua", 1024, 0}, {"reentrant", 64, 0},
    {"reentrant", 256, 0},
};

enum { CONTEST_COUNT = sizeof contests / sizeof contests[0] };

struct plan {
    const struct bench_locks *b;
    const struct contest *contest;
};

/* ---- in the cell ---- */

struct score {
    double per_s;
};

struct driver {
    dlock_async *async;
    const char *variant;
    int64_t pair_count;
    bool is_ending, has_failed;
};

struct one {
    struct driver *driver;
    char name[32];
};

static void granted(dlock_status st, dlock_lease *lease, void *arg);

static void fail(struct driver *driver, const char *call, dlock_status st)
{
    if (!driver->has_failed)
        (void)bench_complain(driver->variant, call, st);
    driver->has_failed = true;
}

static void ask(struct one *one)
{
    dlock_status st = dlock_async_acquire(one->driver->async, one->name, NULL, NULL, granted, one,
                                          NULL);

    if (st != DLOCK_OK)
        fail(one->driver, "acquire", st);
}

static void released(dlock_status st, dlock_lease *lease, void *arg)
{
    struct one *one = arg;

    (void)lease;
    if (st != DLOCK_OK)
        fail(one->driver, "release", st);
    one->driver->pair_count++;
    if (!one->driver->is_ending)
        ask(one);
}

static void granted(dlock_status st, dlock_lease *lease, void *arg)
{
    struct one *one = arg;

    if (st == DLOCK_OK)
        st = dlock_async_release(one->driver->async, lease, released, one);
    if (st != DLOCK_OK)
        fail(one->driver, "acquire", st);
}

static double now_s(void)
{
    struct timespec now;

    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

/* All calls in flight begin at once.  The clock starts when each has completed some pairs, and
 * stops after `duration_ms`, or later if some call has not completed a pair by then. */
static double drive(struct driver *driver, int in_flight, int64_t duration_ms)
{
    static struct one ones[FLIGHT_MAX];
    double begun_s, took_s;
    int64_t before;

    for (int i = 0; i < in_flight; i++) {
        ones[i].driver = driver;
        snprintf(ones[i].name, sizeof ones[i].name, "bench:async:%d", i);
        ask(&ones[i]);
    }
    while (driver->pair_count < (int64_t)in_flight * WARM_UP_PAIRS && !driver->has_failed)
        (void)dlock_poll(driver->async, 100);
    before = driver->pair_count;
    begun_s = now_s();
    do
        (void)dlock_poll(driver->async, 100);
    while (!driver->has_failed && ((now_s() - begun_s) * 1000 < (double)duration_ms ||
                                   driver->pair_count < before + in_flight));
    took_s = now_s() - begun_s;
    before = driver->pair_count - before;
    driver->is_ending = true;
    return (double)before / took_s;
}

static enum exit_code async_cell(const void *arg, void *shared)
{
    const struct plan *plan = arg;
    struct driver driver = {.variant = plan->contest->variant};
    struct score *score = shared;
    dlock_system *sys;
    dlock_status st;

    if (!bench_open(plan->b, plan->contest->variant, &sys))
        return EXIT_UNAVAILABLE;
    st = dlock_async_open(&driver.async, sys, 0);
    if (st != DLOCK_OK) {
        (void)bench_complain(plan->contest->variant, "dlock_async_open", st);
        return EXIT_UNAVAILABLE;
    }
    score->per_s = drive(&driver, plan->contest->in_flight, plan->b->duration_ms);
    while (dlock_async_count(driver.async) > 0)
        (void)dlock_poll(driver.async, 1000);
    (void)dlock_async_close(driver.async);
    dlock_close(sys);
    return driver.has_failed ? EXIT_INVALID : EXIT_VALID;
}

/* ---- in the parent of the cell ---- */

struct figures {
    double per_s[BENCH_ROUNDS_MAX], limit_per_s[BENCH_ROUNDS_MAX], ratio[BENCH_ROUNDS_MAX];
};

static enum exit_code measure_cell(const struct plan *plan, double *per_s)
{
    struct score *shared = cell_share(sizeof *shared);
    enum exit_code rc = EXIT_BUG;
    struct child child;

    if (cell_start(&child, async_cell, plan, shared))
        rc = cell_wait(&child, bench_limit_ms(plan->b->duration_ms), "async");
    *per_s = shared->per_s;
    cell_unshare(shared, sizeof *shared);
    return rc;
}

static enum exit_code measure_contest(const struct plan *plan, int round,
                                      struct figures *figures)
{
    struct limit_plan limit = {
        .lab = plan->b->lab,
        .recipe = recipe_find(plan->contest->variant),
        .connections = CONNECTIONS,
        .pipeline = PIPELINE,
        .duration_ms = plan->b->duration_ms,
        .expected_per_s = GUESS_PER_S,
    };
    enum exit_code rc = measure_cell(plan, &figures->per_s[round]);

    if (rc == EXIT_VALID)
        rc = limit_measure(&limit, &figures->limit_per_s[round]);
    if (rc == EXIT_VALID)
        figures->ratio[round] = figures->per_s[round] / figures->limit_per_s[round];
    return rc;
}

static void print_contest(struct bench_locks *b, const struct contest *contest,
                          struct figures *figures, json_t *list)
{
    struct spread per_s = spread_of(figures->per_s, (size_t)b->rounds);
    struct spread limit = spread_of(figures->limit_per_s, (size_t)b->rounds);
    struct spread ratio = spread_of(figures->ratio, (size_t)b->rounds);
    json_t *row = json_pack("{s:s, s:i}", "lock", contest->variant, "in_flight",
                            contest->in_flight);

    fprintf(b->tables, "%-9s %9d %8.0f  %8.0f %5.2f (%.2f - %.2f)", contest->variant,
            contest->in_flight, per_s.median, limit.median, ratio.median, ratio.least,
            ratio.most);
    json_object_set_new(row, "async_per_s", spread_json(per_s));
    json_object_set_new(row, "redis_benchmark_pipelined_per_s", spread_json(limit));
    json_object_set_new(row, "ratio_to_redis_benchmark_pipelined", spread_json(ratio));
    bench_end_row(b, row, ratio.median, contest->target, 2);
    json_array_append_new(list, row);
}

enum exit_code bench_async(struct bench_locks *b)
{
    static struct figures figures[CONTEST_COUNT];
    enum exit_code rc = EXIT_VALID;
    json_t *list;

    for (int r = 0; r < b->rounds && rc == EXIT_VALID; r++)
        for (int i = 0; i < CONTEST_COUNT && rc == EXIT_VALID; i++) {
            struct plan plan = {b, &contests[i]};

            bench_progress(b, r, "%s, one thread, %d calls in flight", contests[i].variant,
                           contests[i].in_flight);
            rc = measure_contest(&plan, r, &figures[i]);
        }
    if (rc != EXIT_VALID)
        return rc;
    list = json_array();
    fprintf(b->tables,
            "\nPairs of acquire and release per second by one thread through dlock_async.h, each "
            "call\non a name of its own, and the ratio to redis-benchmark -P %d with %d "
            "connections\n(least - most)\n\n"
            "%-9s %9s %8s  %8s %5s %13s  %s\n",
            PIPELINE, CONNECTIONS, "lock", "in flight", "pairs", "limit -P", "ratio", "", "target");
    for (int i = 0; i < CONTEST_COUNT; i++)
        print_contest(b, &contests[i], &figures[i], list);
    json_object_set_new(b->results, "async", list);
    return EXIT_VALID;
}
