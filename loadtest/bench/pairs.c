/* SPDX-License-Identifier: MIT */
/* pairs.c -- pairs of acquire and release without contention: the lock, blocking
 * connections that send the same commands, and redis-benchmark. */
#include "loadtest/bench/locks.h"

#include <string.h>

#include "loadtest/bench/cell.h"
#include "loadtest/bench/lock_pairs.h"
#include "loadtest/bench/redis_limit.h"
#include "loadtest/kit/spread.h"
#include "loadtest/kit/thread_group.h"
#include "loadtest/probe/blocking.h"

enum { PIPELINE = 64 };

/* The competitors: the first is the lock, the others are compared with the lock. */
#define SIDES(X)                                                                       \
    X(LOCK, "lock")                                                                    \
    X(BLOCKING, "blocking")                                                            \
    X(PLAIN, "redis_benchmark")                                                        \
    X(PIPELINED, "redis_benchmark_pipelined")

enum side {
#define X(id, name) SIDE_##id,
    SIDES(X)
#undef X
        SIDE_COUNT
};

static const char *const side_names[] = {
#define X(id, name) name,
    SIDES(X)
#undef X
};

static const struct contest {
    const char *variant;
    int threads;
    double target; /* times the blocking connections                                */
} contests[] = {
    {"lua", 1, 1.0},       {"lua", 8, 1.2},       {"lua", 64, 2.3},
    {"lua", 128, 2.3},     {"reentrant", 1, 1.0}, {"reentrant", 8, 1.2},
    {"reentrant", 64, 2.4}, {"reentrant", 128, 2.5},
};

enum { CONTEST_COUNT = sizeof contests / sizeof contests[0] };

/* The arguments of a cell. */
struct plan {
    const struct bench_locks *b;
    const struct contest *contest;
    int64_t duration_ms;
};

static enum exit_code lock_cell(const void *arg, void *shared)
{
    const struct plan *plan = arg;

    return lock_pairs_measure(plan->b, plan->contest->variant, dlock_release,
                              plan->contest->threads, plan->duration_ms, shared);
}

static enum thread_group_answer blocking_once(void *connections, int index)
{
    return blocking_pair(((struct blocking **)connections)[index]) ? THREAD_GROUP_DONE
                                                                   : THREAD_GROUP_FAILED;
}

static enum exit_code blocking_cell(const void *arg, void *shared)
{
    static struct blocking *connections[THREAD_GROUP_MAX];
    const struct plan *plan = arg;
    const struct recipe *recipe = recipe_find(plan->contest->variant);
    struct thread_group group = {plan->contest->threads, blocking_once, connections};

    for (int i = 0; i < group.threads; i++) {
        char name[32];

        snprintf(name, sizeof name, LOCK_PAIRS_NAME, i);
        connections[i] = blocking_open(plan->b->lab, LAB_REDIS);
        if (!connections[i] || !blocking_prepare(connections[i], recipe, name))
            return EXIT_UNAVAILABLE;
    }
    return thread_group_run(&group, plan->duration_ms, shared) ? EXIT_VALID : EXIT_INVALID;
}

static enum exit_code measure_limit(const struct plan *plan, enum side side,
                                    double *per_s)
{
    struct limit_plan limit = {
        .lab = plan->b->lab,
        .recipe = recipe_find(plan->contest->variant),
        .connections = plan->contest->threads,
        .pipeline = side == SIDE_PIPELINED ? PIPELINE : 1,
        .duration_ms = plan->duration_ms,
        /* An estimate, which only decides how long the measurement takes. */
        .expected_per_s = side == SIDE_PIPELINED          ? 300000
                          : plan->contest->threads == 1 ? 15000
                                                        : 60000,
    };

    return limit_measure(&limit, per_s);
}

static enum exit_code measure_side(const struct plan *plan, enum side side,
                                   double *per_s)
{
    enum exit_code rc = EXIT_BUG;
    struct child child;
    struct thread_group_score *shared;

    if (side == SIDE_PLAIN || side == SIDE_PIPELINED)
        return measure_limit(plan, side, per_s);
    shared = cell_share(sizeof *shared);
    if (cell_start(&child, side == SIDE_LOCK ? lock_cell : blocking_cell, plan, shared))
        rc = cell_wait(&child, bench_limit_ms(plan->duration_ms), side_names[side]);
    *per_s = shared->per_s;
    cell_unshare(shared, sizeof *shared);
    return rc;
}

struct figures {
    double per_s[SIDE_COUNT][BENCH_ROUNDS_MAX];
    double ratio[SIDE_COUNT][BENCH_ROUNDS_MAX]; /* of the lock to that side         */
};

/* The lock and the blocking connections take turns in being first. */
static enum exit_code measure_contest(const struct plan *plan, int round,
                                      struct figures *figures)
{
    enum side order[] = {SIDE_BLOCKING, SIDE_LOCK, SIDE_PLAIN, SIDE_PIPELINED};
    enum exit_code rc = EXIT_VALID;

    if (round % 2) {
        order[0] = SIDE_LOCK;
        order[1] = SIDE_BLOCKING;
    }
    for (int i = 0; i < SIDE_COUNT && rc == EXIT_VALID; i++)
        rc = measure_side(plan, order[i], &figures->per_s[order[i]][round]);
    for (int i = 0; i < SIDE_COUNT && rc == EXIT_VALID; i++)
        figures->ratio[i][round] =
            figures->per_s[SIDE_LOCK][round] / figures->per_s[i][round];
    return rc;
}

static json_t *result_json(const struct contest *contest, const struct spread *per_s,
                           const struct spread *ratio)
{
    json_t *row = json_pack("{s:s, s:i}", "lock", contest->variant, "threads",
                            contest->threads);

    for (int i = 0; i < SIDE_COUNT; i++) {
        char key[64];

        snprintf(key, sizeof key, "%s_per_s", side_names[i]);
        json_object_set_new(row, key, spread_json(per_s[i]));
        snprintf(key, sizeof key, "ratio_to_%s", side_names[i]);
        if (i != SIDE_LOCK)
            json_object_set_new(row, key, spread_json(ratio[i]));
    }
    json_object_set_new(row, "target", json_real(contest->target));
    json_object_set_new(row, "reached",
                        json_boolean(ratio[SIDE_BLOCKING].median >= contest->target));
    return row;
}

static void print_contest(struct bench_locks *b, const struct contest *contest,
                          struct figures *figures, json_t *list)
{
    struct spread per_s[SIDE_COUNT], ratio[SIDE_COUNT];
    struct spread *beside = &ratio[SIDE_BLOCKING];

    for (int i = 0; i < SIDE_COUNT; i++) {
        per_s[i] = spread_of(figures->per_s[i], (size_t)b->rounds);
        ratio[i] = spread_of(figures->ratio[i], (size_t)b->rounds);
    }
    fprintf(b->tables,
            "%-9s %7d %8.0f  %8.0f %5.2f (%.2f - %.2f)  %8.0f %5.2f  %8.0f %5.2f  %.1f %s\n",
            contest->variant, contest->threads, per_s[SIDE_LOCK].median,
            per_s[SIDE_BLOCKING].median, beside->median, beside->least, beside->most,
            per_s[SIDE_PLAIN].median, ratio[SIDE_PLAIN].median,
            per_s[SIDE_PIPELINED].median, ratio[SIDE_PIPELINED].median, contest->target,
            bench_judge(b, beside->median >= contest->target));
    json_array_append_new(list, result_json(contest, per_s, ratio));
}

static void print_all(struct bench_locks *b, struct figures *figures)
{
    json_t *list = json_array();

    fprintf(b->tables,
            "\nPairs of acquire and release per second, each thread on a name of its "
            "own, and the\nratio to the same commands over one blocking connection per "
            "thread (least - most),\nto redis-benchmark with as many connections, and "
            "to redis-benchmark -P %d\n\n"
            "%-9s %7s %8s  %8s %5s %13s  %8s %5s  %8s %5s  %s\n",
            PIPELINE, "lock", "threads", "pairs", "blocking", "ratio", "", "limit",
            "ratio", "limit -P", "ratio", "target");
    for (int i = 0; i < CONTEST_COUNT; i++)
        print_contest(b, &contests[i], &figures[i], list);
    json_object_set_new(b->results, "pairs", list);
}

enum exit_code bench_pairs(struct bench_locks *b)
{
    static struct figures figures[CONTEST_COUNT];
    enum exit_code rc = EXIT_VALID;

    for (int r = 0; r < b->rounds && rc == EXIT_VALID; r++) {
        for (int i = 0; i < CONTEST_COUNT && rc == EXIT_VALID; i++) {
            struct plan plan = {b, &contests[i], b->duration_ms};

            bench_progress(b, r, "%s, %d threads", contests[i].variant,
                           contests[i].threads);
            rc = measure_contest(&plan, r, &figures[i]);
        }
    }
    if (rc == EXIT_VALID)
        print_all(b, figures);
    return rc;
}
