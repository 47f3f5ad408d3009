/* SPDX-License-Identifier: MIT */
/* later.c -- pairs of acquire and release whose releases nobody waits for, beside pairs whose
 * releases are waited for, in the same round. */
#include "loadtest/bench/locks.h"

#include "loadtest/bench/cell.h"
#include "loadtest/bench/lock_pairs.h"
#include "loadtest/kit/spread.h"

static const struct contest {
    const char *variant;
    int threads;
    double target; /* times the pairs that wait; 0: none */
} contests[] = {
    {"lua", 1, 0},       {"lua", 8, 2.0},       {"lua", 64, 0},
    {"reentrant", 1, 0}, {"reentrant", 8, 2.0}, {"reentrant", 64, 0},
};

enum { CONTEST_COUNT = sizeof contests / sizeof contests[0] };

/* The two kinds of pairs. */
enum side { WAITED, LATER, SIDE_COUNT };

struct plan {
    const struct bench_locks *b;
    const struct contest *contest;
    enum side side;
};

struct figures {
    double per_s[SIDE_COUNT][BENCH_ROUNDS_MAX];
    double ratio[BENCH_ROUNDS_MAX];
};

static enum exit_code lock_cell(const void *arg, void *shared)
{
    const struct plan *plan = arg;

    return lock_pairs_measure(plan->b, plan->contest->variant,
                              plan->side == LATER ? dlock_release_later : dlock_release,
                              plan->contest->threads, plan->b->duration_ms, shared);
}

static enum exit_code measure(const struct plan *plan, double *per_s)
{
    struct thread_group_score *shared = cell_share(sizeof *shared);
    enum exit_code rc = EXIT_BUG;
    struct child child;

    if (cell_start(&child, lock_cell, plan, shared))
        rc = cell_wait(&child, bench_limit_ms(plan->b->duration_ms), "later");
    *per_s = shared->per_s;
    cell_unshare(shared, sizeof *shared);
    return rc;
}

/* The two kinds take turns in being measured first. */
static enum exit_code measure_contest(struct bench_locks *b, const struct contest *contest,
                                      int round, struct figures *figures)
{
    enum exit_code rc = EXIT_VALID;

    for (int i = 0; i < SIDE_COUNT && rc == EXIT_VALID; i++) {
        enum side side = (enum side)((i + round) % SIDE_COUNT);
        struct plan plan = {b, contest, side};

        rc = measure(&plan, &figures->per_s[side][round]);
    }
    if (rc == EXIT_VALID)
        figures->ratio[round] =
            figures->per_s[LATER][round] / figures->per_s[WAITED][round];
    return rc;
}

static void print_contest(struct bench_locks *b, const struct contest *contest,
                          struct figures *figures, json_t *list)
{
    struct spread waited = spread_of(figures->per_s[WAITED], (size_t)b->rounds);
    struct spread later = spread_of(figures->per_s[LATER], (size_t)b->rounds);
    struct spread ratio = spread_of(figures->ratio, (size_t)b->rounds);
    json_t *row = json_pack("{s:s, s:i, s:o, s:o, s:o}", "lock", contest->variant, "threads",
                            contest->threads, "waited_per_s", spread_json(waited),
                            "later_per_s", spread_json(later), "ratio", spread_json(ratio));

    fprintf(b->tables, "%-9s %7d %8.0f %8.0f %5.2f (%.2f - %.2f)", contest->variant,
            contest->threads, waited.median, later.median, ratio.median, ratio.least,
            ratio.most);
    bench_end_row(b, row, ratio.median, contest->target, 1);
    json_array_append_new(list, row);
}

enum exit_code bench_later(struct bench_locks *b)
{
    static struct figures figures[CONTEST_COUNT];
    enum exit_code rc = EXIT_VALID;
    json_t *list;

    for (int r = 0; r < b->rounds && rc == EXIT_VALID; r++) {
        for (int i = 0; i < CONTEST_COUNT && rc == EXIT_VALID; i++) {
            bench_progress(b, r, "%s, %d threads, released later", contests[i].variant,
                           contests[i].threads);
            rc = measure_contest(b, &contests[i], r, &figures[i]);
        }
    }
    if (rc != EXIT_VALID)
        return rc;
    fprintf(b->tables,
            "\nPairs per second, each thread on a name of its own, by dlock_release() and by\n"
            "dlock_release_later(), and the ratio of both in a round (least - most)\n\n"
            "%-9s %7s %8s %8s %5s %13s  %s\n",
            "lock", "threads", "waited", "later", "ratio", "", "target");
    list = json_array();
    for (int i = 0; i < CONTEST_COUNT; i++)
        print_contest(b, &contests[i], &figures[i], list);
    json_object_set_new(b->results, "later", list);
    return EXIT_VALID;
}
