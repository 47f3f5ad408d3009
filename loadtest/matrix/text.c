/* SPDX-License-Identifier: MIT */
/* text.c -- the rows, columns and cells that all reports of a matrix share. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "loadtest/kit/memory.h"
#include "loadtest/matrix/matrix.h"

static bool is_same_row(const struct matrix_cell *a, const struct matrix_cell *b)
{
    return a->setup.scenario == b->setup.scenario &&
           a->setup.guard == b->setup.guard;
}

static bool is_planned(const struct matrix *m, const struct matrix_cell *cell)
{
    for (int i = 0; i < m->seed_count; i++)
        if (cell->runs[i].is_planned)
            return true;
    return false;
}

static void add_row(struct matrix_grid *grid, const struct matrix *m, size_t cell)
{
    for (size_t r = 0; r < grid->row_count; r++)
        if (is_same_row(&m->cells[grid->row_first[r]], &m->cells[cell]))
            return;
    grid->row_first[grid->row_count++] = cell;
}

/* In the order of the catalogue. */
static void add_locks(struct matrix_grid *grid, const struct matrix *m)
{
    for (size_t i = 0; i < dlock_variant_count(); i++) {
        bool is_there = false;

        for (size_t c = 0; c < m->cell_count && !is_there; c++)
            is_there = m->cells[c].setup.lock == dlock_variant_at(i) &&
                       is_planned(m, &m->cells[c]);
        if (is_there)
            grid->locks[grid->lock_count++] = dlock_variant_at(i);
    }
}

void matrix_grid_make(struct matrix_grid *grid, const struct matrix *m)
{
    *grid = (struct matrix_grid){
        .row_first = memory_need(calloc(m->cell_count + 1, sizeof *grid->row_first)),
        .locks = memory_need(calloc(dlock_variant_count() + 1, sizeof *grid->locks))};
    for (size_t i = 0; i < m->cell_count; i++)
        if (is_planned(m, &m->cells[i]))
            add_row(grid, m, i);
    add_locks(grid, m);
}

void matrix_grid_free(struct matrix_grid *grid)
{
    free(grid->row_first);
    free(grid->locks);
}

const struct matrix_cell *matrix_grid_cell(const struct matrix_grid *grid,
                                           const struct matrix *m, size_t row,
                                           size_t lock)
{
    const struct matrix_cell *first = &m->cells[grid->row_first[row]];

    for (size_t i = 0; i < m->cell_count; i++)
        if (m->cells[i].setup.lock == grid->locks[lock] &&
            is_same_row(&m->cells[i], first) && is_planned(m, &m->cells[i]))
            return &m->cells[i];
    return NULL;
}

/* An outcome in a word, for a table. */
static const char *word_of(enum scenario_outcome outcome)
{
    switch (outcome) {
    case SCENARIO_FENCED:
        return "fenced";
    case SCENARIO_DEAD:
        return "dead";
    case SCENARIO_WAITS:
        return "waits";
    default:
        return scenario_outcome_name(outcome, false);
    }
}

void matrix_cell_text(const struct matrix *m, const struct matrix_cell *cell, char *out,
                      size_t size)
{
    struct verdict_counts counts = matrix_cell_counts(m, cell);
    enum verdict verdict = verdict_worst(&counts);
    int64_t all = 0;

    for (int v = 0; v < VERDICT_COUNT; v++)
        all += counts.of[v];
    if (all == 0)
        snprintf(out, size, "-");
    else if (verdict == VERDICT_VALID)
        snprintf(out, size, "%s", word_of(cell->setup.expected->outcome));
    else
        snprintf(out, size, "%" PRId64 "/%" PRId64 "%s", counts.of[verdict], all,
                 verdict == VERDICT_INVALID ? "!" : "?");
}

void matrix_row_text(const struct matrix_cell *cell, char *out, size_t size)
{
    const struct stock_guard *guard = cell->setup.scenario->guard;

    if (cell->setup.guard == (guard != NULL ? guard : &guard_read_write))
        snprintf(out, size, "%s", cell->setup.scenario->name);
    else
        snprintf(out, size, "%s +%s", cell->setup.scenario->name, cell->setup.guard->name);
}

void matrix_expected_text(const struct matrix_cell *cell, char *out, size_t size)
{
    const struct expectation *expected = cell->setup.expected;
    const char *before = ", showing ";

    snprintf(out, size, "%s", scenario_outcome_name(expected->outcome, false));
    for (int i = 0; i < SIGN_COUNT; i++) {
        size_t used = strlen(out);

        if (!(expected->shows & (1u << i)))
            continue;
        snprintf(out + used, size - used, "%s%s", before, scenario_sign_name(i, false));
        before = ", ";
    }
}

void matrix_headline(const struct matrix *m, char *out, size_t size)
{
    struct matrix_totals t = matrix_sum(m);
    int n = snprintf(out, size, "%" PRId64 " of %zu cells as expected",
                     t.cells_of.of[VERDICT_VALID], t.cells);

    if (t.cells_of.of[VERDICT_INVALID] > 0)
        n += snprintf(out + n, size - (size_t)n, ", %" PRId64 " UNEXPECTED",
                      t.cells_of.of[VERDICT_INVALID]);
    if (t.cells_of.of[VERDICT_UNKNOWN] > 0)
        n += snprintf(out + n, size - (size_t)n, ", %" PRId64 " unknown",
                      t.cells_of.of[VERDICT_UNKNOWN]);
    if (t.done < t.planned)
        snprintf(out + n, size - (size_t)n, "; %s after %zu of %zu performances",
                 m->was_interrupted ? "cut short"
                 : m->was_limited   ? "the time was up"
                                    : "ended",
                 t.done, t.planned);
}
