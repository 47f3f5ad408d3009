/* SPDX-License-Identifier: MIT */
/* cells.c -- the experiments, the expectation of each cell, and the judgement of its
 * runs. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "loadtest/compare/compare.h"
#include "loadtest/kit/spread.h"
#include "lock/dlock.h"

/* The guards are off, so that only the lock protects the data of the experiment. */
static const char *const oversell_flags[] = {
    "--lock-scope=voucher", "--stock-guard=read-write", "--duplicate-guard=none",
    "--lock-wait=300ms", NULL};
static const char *const one_per_user_flags[] = {
    "--lock-scope=user", "--stock-guard=conditional", "--duplicate-guard=count",
    "--lock-wait=0ms", NULL};

/* The flags of `oversell`, but the stock guard compares the fence. */
static const char *const fencing_flags[] = {
    "--lock-scope=voucher", "--stock-guard=fence", "--duplicate-guard=none",
    "--lock-wait=300ms", NULL};

static const struct experiment experiments[] = {
    {"oversell", "does the lock alone keep a voucher from being sold beyond its stock?",
     oversell_flags, false, 1, 0, false},
    {"one-per-user", "does the lock alone keep a user from buying a voucher twice?",
     one_per_user_flags, true, 2, 0, false},
    {"fencing", "does the lock's fence keep out who comes back too late?", fencing_flags,
     false, 1, DLOCK_CAP_FENCED, true},
};

enum { EXPERIMENT_COUNT = sizeof experiments / sizeof experiments[0] };

const char *experiment_name_at(size_t i)
{
    return i < EXPERIMENT_COUNT ? experiments[i].name : NULL;
}

const struct experiment *experiment_find(const char *name)
{
    for (size_t i = 0; i < EXPERIMENT_COUNT; i++) {
        if (strcmp(experiments[i].name, name) == 0)
            return &experiments[i];
    }
    return NULL;
}

/* The outcome that the rows of the hazard or experiment `name` require of the lock. */
static enum cell_expectation expectation_by(const char *name, const char *lock,
                                            enum order_path_id path)
{
    const dlock_variant_info *info = dlock_variant_find(lock);
    const struct expectation *e =
        info != NULL ? expectation_of_hazard(name, info, path) : NULL;

    if (e == NULL)
        return EXPECT_NOTHING;
    return e->outcome == SCENARIO_BREAKS ? EXPECT_BROKEN
           : e->outcome == SCENARIO_HOLDS ? EXPECT_SOUND
                                          : EXPECT_EITHER;
}

enum cell_expectation expectation_of(const char *lock, const struct hazard *hazard,
                                     enum order_path_id path)
{
    return expectation_by(hazard->name, lock, path);
}

bool experiment_takes(const struct experiment *experiment, const char *lock)
{
    const dlock_variant_info *info = dlock_variant_find(lock);

    return info && (info->caps & experiment->caps) == experiment->caps;
}

enum cell_expectation experiment_expectation(const struct experiment *experiment,
                                             const char *lock,
                                             const struct hazard *hazard,
                                             enum order_path_id path)
{
    /* Rows of an experiment, of the path itself, count before those of the hazard. */
    enum cell_expectation expected = expectation_by(experiment->name, lock, path);

    if (expected == EXPECT_NOTHING)
        expected = expectation_of(lock, hazard, path);
    if (!experiment_takes(experiment, lock))
        return EXPECT_NOTHING;
    return experiment->holds && expected != EXPECT_NOTHING ? EXPECT_SOUND : expected;
}

bool experiment_needs_late_write(const struct experiment *experiment, const char *lock,
                                 const struct hazard *hazard, enum order_path_id path)
{
    return experiment->holds && experiment_takes(experiment, lock) &&
           expectation_of(lock, hazard, path) == EXPECT_BROKEN;
}

enum cell_expectation expectation_among(enum cell_expectation expected, int processes)
{
    return processes == 1 && expected == EXPECT_BROKEN ? EXPECT_EITHER : expected;
}

/* Does only the lock protect from this finding in the experiment, so that a broken lock explains
 * it? */
static bool is_at_stake(const struct experiment *experiment, int check)
{
    if (experiment->is_per_user)
        return check == AUDIT_DUPLICATE;
    return check == AUDIT_OVERSOLD || check == AUDIT_LOST_UPDATE;
}

/* The reason why nothing is known of a run in which no violation counts. */
static void why_unknown(const struct cell *cell, const struct run_result *result,
                        char why[WHY_MAX])
{
    if (*result->reason)
        snprintf(why, WHY_MAX, "%s", result->reason);
    else if (result->hazard != HAZARD_OVER)
        snprintf(why, WHY_MAX, "the hazard did not come about: %.220s", result->note);
    else if (result->verdict.valid == VERDICT_UNKNOWN && result->unanswered == 0)
        snprintf(why, WHY_MAX, "the evidence of the run is not complete");
    else if (result->verdict.valid == VERDICT_UNKNOWN)
        snprintf(why, WHY_MAX,
                 "%" PRId64 " requests had no answer, and the verdict depends on them",
                 result->unanswered);
    else if (result->processes > 1 && result->processes_at_work < 2)
        snprintf(why, WHY_MAX,
                 "only %d of %d processes sold an order or refused one by the lock",
                 result->processes_at_work, result->processes);
    else if (cell->needs_late_write && result->refused_late == 0)
        snprintf(why, WHY_MAX, "the fence refused no late write");
}

enum run_outcome run_outcome_of(const struct cell *cell, const struct run_result *result,
                                char why[WHY_MAX])
{
    const struct experiment *experiment = cell->experiment;
    bool broken = false, wrong = false;

    for (int i = 0; i < AUDIT_CHECK_COUNT; i++) {
        bool found = result->verdict.findings[i].valid == VERDICT_INVALID;

        broken = broken || (found && is_at_stake(experiment, i));
        wrong = wrong || (found && !is_at_stake(experiment, i));
    }
    why[0] = '\0';
    if (wrong)
        return RUN_WRONG;
    if (broken && result->hazard != HAZARD_LATE)
        return RUN_BROKEN;
    why_unknown(cell, result, why);
    return *why ? RUN_UNKNOWN : RUN_SOUND;
}

enum cell_outcome cell_outcome_of(const struct cell *cell)
{
    enum run_outcome wanted = cell->expected == EXPECT_BROKEN ? RUN_BROKEN : RUN_SOUND;
    enum cell_outcome good =
        cell->expected == EXPECT_NOTHING ? CELL_NO_EXPECTATION : CELL_AS_EXPECTED;
    enum cell_outcome outcome = good;

    for (int i = 0; i < cell->run_count; i++) {
        enum run_outcome got = cell->runs[i].outcome;

        if (got == RUN_WRONG)
            return CELL_UNEXPECTED;
        if (got == RUN_NOT_DONE && outcome == good)
            outcome = CELL_NOT_DONE;
        else if (got == RUN_UNKNOWN)
            outcome = CELL_UNKNOWN;
        else if (got != RUN_NOT_DONE && got != wanted &&
                 cell->expected != EXPECT_NOTHING &&
                 cell->expected != EXPECT_EITHER)
            return CELL_UNEXPECTED;
    }
    return outcome;
}

size_t comparison_cell_count(const struct comparison *c)
{
    return c->experiment_count * c->hazard_count * c->lock_count;
}

struct cell *comparison_cell(const struct comparison *c, size_t experiment,
                             size_t hazard, size_t lock)
{
    return &c->cells[(experiment * c->hazard_count + hazard) * c->lock_count + lock];
}

size_t comparison_planned_in(const struct comparison *c, size_t experiment)
{
    size_t n = 0;

    for (size_t h = 0; h < c->hazard_count; h++)
        for (size_t l = 0; l < c->lock_count; l++)
            n += comparison_cell(c, experiment, h, l)->run_count > 0;
    return n;
}

size_t comparison_planned(const struct comparison *c)
{
    size_t n = 0;

    for (size_t i = 0; i < c->experiment_count; i++)
        n += comparison_planned_in(c, i);
    return n;
}

size_t comparison_count(const struct comparison *c, enum cell_outcome outcome)
{
    size_t n = 0;

    for (size_t i = 0; i < comparison_cell_count(c); i++)
        n += c->cells[i].run_count > 0 && cell_outcome_of(&c->cells[i]) == outcome;
    return n;
}

/* Of a cell that was done. */
static enum verdict cell_verdict(enum cell_outcome outcome)
{
    return outcome == CELL_AS_EXPECTED  ? VERDICT_VALID
           : outcome == CELL_UNEXPECTED ? VERDICT_INVALID
                                        : VERDICT_UNKNOWN;
}

enum exit_code comparison_exit_code(const struct comparison *c)
{
    struct verdict_counts counts = {0};

    for (size_t i = 0; i < comparison_cell_count(c); i++)
        if (c->cells[i].run_count > 0 && cell_outcome_of(&c->cells[i]) != CELL_NOT_DONE)
            verdict_count(&counts, cell_verdict(cell_outcome_of(&c->cells[i])));
    return verdict_exit(verdict_worst(&counts));
}

const char *run_outcome_name(enum run_outcome outcome)
{
    static const char *const names[] = {"not done", "sound", "broken", "wrong",
                                        "unknown"};

    return names[outcome];
}

const char *cell_outcome_name(enum cell_outcome outcome)
{
    switch (outcome) {
    case CELL_NOT_DONE:
        return "not done";
    case CELL_NO_EXPECTATION:
        return "no expectation";
    default:
        return verdict_beside_expectation(cell_verdict(outcome));
    }
}

const char *expectation_name(enum cell_expectation expected)
{
    static const char *const names[] = {"no expectation", "sound", "broken", "either"};

    return names[expected];
}

void cell_count_runs(const struct cell *cell, int of[RUN_OUTCOME_COUNT])
{
    for (int i = 0; i < cell->run_count; i++)
        of[cell->runs[i].outcome]++;
}

int64_t cell_excess(const struct cell *cell)
{
    int64_t most = 0;

    for (int i = 0; i < cell->run_count; i++) {
        const struct run_record *r = &cell->runs[i];
        int64_t excess =
            r->counts[cell->experiment->is_per_user ? AUDIT_DUPLICATE : AUDIT_OVERSOLD];

        most = excess > most ? excess : most;
    }
    return most;
}

/* The median of the figure at `offset` in the records of the runs; 0: there is none.
 * Speed says something only of a run that was judged. */
static double median_of(const struct cell *cell, size_t offset)
{
    double values[COMPARE_REPEATS_MAX];
    size_t n = 0;

    for (int i = 0; i < cell->run_count; i++) {
        const struct run_record *r = &cell->runs[i];

        if (r->outcome != RUN_NOT_DONE && r->outcome != RUN_UNKNOWN)
            memcpy(&values[n++], (const char *)r + offset, sizeof *values);
    }
    return n > 0 ? spread_of(values, n).median : 0;
}

double cell_orders_per_s(const struct cell *cell)
{
    return median_of(cell, offsetof(struct run_record, orders_per_s));
}

double cell_p99_ms(const struct cell *cell)
{
    return median_of(cell, offsetof(struct run_record, p99_ms));
}
