/* SPDX-License-Identifier: MIT */
/* idle_plan.h -- for the files of `bench-locks --only=idle` alone: the builds that are compared,
 * and the figures of a comparison. */
#ifndef LOADTEST_BENCH_IDLE_PLAN_H
#define LOADTEST_BENCH_IDLE_PLAN_H

#include "loadtest/bench/locks.h"

#define IDLE_RATIO_TARGET 0.97

/* The error of a measurement of three seconds is 1.5 %.  This table must show a difference of 1
 * %, so its measurements take ten times as long as those of the other tables. */
enum { IDLE_TIMES_LONGER = 10 };

/* The compared builds.  Idle: the build has every fault point, and no fault point is armed. */
#define IDLE_SIDES(X)                                                                  \
    X(BARE, "bare")                                                                    \
    X(IDLE, "idle")                                                                    \
    X(RECORDED, "recorded")

enum idle_side {
#define X(id, name) IDLE_SIDE_##id,
    IDLE_SIDES(X)
#undef X
        IDLE_SIDE_COUNT
};

/* "bare", ... */
const char *idle_side_name(enum idle_side side);

/* The comparisons.  Each has a target, except POINTS, which shows the fault points alone. */
#define IDLE_RATIOS(X)                                                                 \
    X(WHOLE, RECORDED, BARE)                                                           \
    X(RECORDER, RECORDED, IDLE)                                                        \
    X(POINTS, IDLE, BARE)

enum idle_ratio {
#define X(id, a, b) IDLE_RATIO_##id,
    IDLE_RATIOS(X)
#undef X
        IDLE_RATIO_COUNT
};

/* The sides of each: `side` to `beside`. */
extern const struct idle_sides {
    enum idle_side side, beside;
} idle_ratios[IDLE_RATIO_COUNT];

enum { IDLE_CONTESTS = 4 };

struct idle_contest {
    const char *variant;
    int threads;
};

struct idle_plan {
    const struct bench_locks *b;
    const struct idle_contest *contest;
    const char *libraries[IDLE_SIDE_COUNT];
    const char *records; /* the directory of the recorded side's files              */
};

/* Of one contest, by round. */
struct idle_figures {
    double per_s[IDLE_SIDE_COUNT][BENCH_ROUNDS_MAX];
    double ratio[IDLE_RATIO_COUNT][BENCH_ROUNDS_MAX];
};

/* Pairs per second of each side. */
struct idle_result {
    double per_s[IDLE_SIDE_COUNT];
};

/* In the process of a cell (cell.h): `plan` is a struct idle_plan, `result` a struct
 * idle_result.  Anything but EXIT_VALID: the reason is on stderr. */
enum exit_code idle_race(const void *plan, void *result);

void idle_complain(const char *what, const char *why);

/* Add the table to b->tables and the figures to b->results. */
void idle_print(struct bench_locks *b, const struct idle_contest contests[IDLE_CONTESTS],
                struct idle_figures figures[IDLE_CONTESTS]);

#endif /* LOADTEST_BENCH_IDLE_PLAN_H */
