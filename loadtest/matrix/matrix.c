/* SPDX-License-Identifier: MIT */
/* matrix.c -- the performances of a matrix, and their common verdict. */
#include "loadtest/kit/memory.h"
#include "loadtest/live/series.h"
#include "loadtest/kit/verdict.h"
#include "loadtest/matrix/matrix.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

const char *matrix_verdict_name(bool is_done, enum verdict verdict)
{
    return is_done ? verdict_beside_expectation(verdict) : "not done";
}

bool matrix_make(struct matrix *m, const struct scenario_setup *setups, size_t count)
{
    m->cell_count = count;
    m->cells = memory_need(calloc(count + 1, sizeof *m->cells));
    for (size_t i = 0; i < count; i++) {
        m->cells[i].setup = setups[i];
        if (m->expected_instead != NULL)
            m->cells[i].setup.expected = m->expected_instead;
        m->cells[i].runs =
            memory_need(calloc((size_t)m->seed_count, sizeof *m->cells[i].runs));
    }
    return count > 0;
}

void matrix_free(struct matrix *m)
{
    for (size_t i = 0; i < m->cell_count; i++) {
        free(m->cells[i].runs);
        free(m->cells[i].story);
        free(m->cells[i].story_zh);
    }
    free(m->cells);
    series_close(m->series);
}

void matrix_plan(struct matrix *m, int part, int parts)
{
    size_t number = 0;

    m->part = part;
    m->parts = parts;
    for (int seed = 0; seed < m->seed_count; seed++)
        for (size_t i = 0; i < m->cell_count; i++, number++)
            m->cells[i].runs[seed].is_planned =
                number % (size_t)parts == (size_t)part - 1;
}

uint32_t matrix_seed(const struct matrix *m, int seed)
{
    return m->first_seed + (uint32_t)seed;
}

static void shuffle(struct matrix_place *places, size_t count, uint64_t dice)
{
    for (size_t i = count; i > 1; i--) {
        size_t other = (size_t)scenario_dice(&dice, (int)i);
        struct matrix_place keep = places[i - 1];

        places[i - 1] = places[other];
        places[other] = keep;
    }
}

size_t matrix_order(const struct matrix *m, struct matrix_place **out)
{
    struct matrix_place *places = memory_need(
        calloc(m->cell_count * (size_t)m->seed_count + 1, sizeof *places));
    size_t count = 0, begin;

    for (int seed = 0; seed < m->seed_count; seed++) {
        begin = count;
        for (size_t i = 0; i < m->cell_count; i++)
            if (m->cells[i].runs[seed].is_planned)
                places[count++] = (struct matrix_place){i, seed};
        shuffle(places + begin, count - begin, matrix_seed(m, seed));
    }
    *out = places;
    return count;
}

/* ---- the verdict ---- */

void matrix_record(struct matrix_run *run, const struct scenario_result *result)
{
    run->is_done = true;
    run->verdict = !result->has_happened ? VERDICT_UNKNOWN
                   : result->is_expected ? VERDICT_VALID
                                         : VERDICT_INVALID;
    run->rc = result->rc;
    run->outcome = result->outcome;
    run->signs = result->signs;
    run->tries = result->tries;
    run->took_ms = result->took_ns / 1000000;
    run->story_holds = result->holds;
    run->background_holds = result->background_holds;
    run->background_failures = result->background_failures;
    run->faults = result->faults;
    run->stalls = result->stalls;
    run->delays = result->delays;
    snprintf(run->why, sizeof run->why, "%s", result->why);
    snprintf(run->spoilt, sizeof run->spoilt, "%s", result->spoilt);
}

struct verdict_counts matrix_cell_counts(const struct matrix *m, const struct matrix_cell *cell)
{
    struct verdict_counts counts = {0};

    for (int i = 0; i < m->seed_count; i++)
        if (cell->runs[i].is_planned && cell->runs[i].is_done)
            verdict_count(&counts, cell->runs[i].verdict);
    return counts;
}

bool matrix_cell_is_done(const struct matrix *m, const struct matrix_cell *cell)
{
    for (int i = 0; i < m->seed_count; i++)
        if (cell->runs[i].is_planned && cell->runs[i].is_done)
            return true;
    return false;
}

enum verdict matrix_cell_verdict(const struct matrix *m, const struct matrix_cell *cell)
{
    struct verdict_counts counts = matrix_cell_counts(m, cell);

    return verdict_worst(&counts);
}

static void sum_run(struct matrix_totals *t, const struct matrix_run *run)
{
    t->planned += run->is_planned;
    if (!run->is_planned || !run->is_done)
        return;
    t->done++;
    t->repeated += run->tries > 1;
    t->faults += run->faults;
    t->stalls += run->stalls;
    t->delays += run->delays;
    t->story_holds += run->story_holds;
    t->background_holds += run->background_holds;
    t->background_failures += run->background_failures;
    t->took_ms += run->took_ms;
}

static void sum_cell(struct matrix_totals *t, const struct matrix *m,
                     const struct matrix_cell *cell)
{
    size_t before = t->planned;

    for (int seed = 0; seed < m->seed_count; seed++)
        sum_run(t, &cell->runs[seed]);
    if (t->planned == before)
        return;
    t->cells++;
    if (matrix_cell_is_done(m, cell))
        verdict_count(&t->cells_of, matrix_cell_verdict(m, cell));
    else
        t->cells_not_done++;
}

struct matrix_totals matrix_sum(const struct matrix *m)
{
    struct matrix_totals t = {0};

    for (size_t i = 0; i < m->cell_count; i++) {
        bool is_new_scenario = true, is_new_lock = true;

        for (size_t j = 0; j < i; j++) {
            is_new_scenario &= m->cells[j].setup.scenario != m->cells[i].setup.scenario;
            is_new_lock &= m->cells[j].setup.lock != m->cells[i].setup.lock;
        }
        t.scenarios += is_new_scenario;
        t.locks += is_new_lock;
        sum_cell(&t, m, &m->cells[i]);
    }
    return t;
}

enum exit_code matrix_exit_code(const struct matrix *m)
{
    /* A matrix in which no performance was done does not pass. */
    enum exit_code worst = matrix_sum(m).done > 0 ? EXIT_VALID : EXIT_UNKNOWN;

    for (size_t i = 0; i < m->cell_count; i++)
        for (int seed = 0; seed < m->seed_count; seed++)
            if (m->cells[i].runs[seed].is_done)
                worst = verdict_worse_exit(worst, m->cells[i].runs[seed].rc);
    return worst;
}

void matrix_command(const struct matrix *m, const struct matrix_cell *cell, int seed,
                    char out[MATRIX_COMMAND_MAX])
{
    int n = snprintf(out, MATRIX_COMMAND_MAX,
                     "seckill matrix --scenarios=%s --locks=%s --guard=%s --seed=%" PRIu32
                     " --seeds=1 --keep",
                     cell->setup.scenario->name, cell->setup.lock->name, cell->setup.guard->name,
                     matrix_seed(m, seed));

    if (m->expected_instead != NULL)
        snprintf(out + n, (size_t)(MATRIX_COMMAND_MAX - n), " --expect=\"%s\"",
                 scenario_outcome_name(m->expected_instead->outcome, false));
}
