/* SPDX-License-Identifier: MIT */
/* report.c -- the matrix as people read it: on a terminal and in Markdown. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "loadtest/kit/machine.h"
#include "loadtest/kit/result_page.h"
#include "loadtest/kit/style.h"
#include "loadtest/matrix/matrix.h"

enum { TEXT_MAX = 128, ROW_GAP = 1 };

static enum report_style style_of(const struct matrix *m, const struct matrix_cell *cell)
{
    enum verdict verdict;

    if (cell == NULL || !matrix_cell_is_done(m, cell))
        return STYLE_PLAIN;
    verdict = matrix_cell_verdict(m, cell);
    if (verdict != VERDICT_VALID)
        return verdict_style(verdict);
    return cell->setup.expected->outcome == SCENARIO_BREAKS ||
                   cell->setup.expected->outcome == SCENARIO_DEAD
               ? STYLE_WARN
               : STYLE_GOOD;
}

/* ---- the terminal ---- */

static size_t row_width(const struct matrix *m, const struct matrix_grid *grid)
{
    size_t width = 0;

    for (size_t r = 0; r < grid->row_count; r++) {
        char text[TEXT_MAX];

        matrix_row_text(&m->cells[grid->row_first[r]], text, sizeof text);
        if (strlen(text) > width)
            width = strlen(text);
    }
    return width + ROW_GAP;
}

static size_t column_width(const struct matrix *m, const struct matrix_grid *grid,
                           size_t lock)
{
    size_t width = strlen(grid->locks[lock]->name);

    for (size_t r = 0; r < grid->row_count; r++) {
        const struct matrix_cell *cell = matrix_grid_cell(grid, m, r, lock);
        char text[TEXT_MAX];

        if (cell == NULL)
            continue;
        matrix_cell_text(m, cell, text, sizeof text);
        if (strlen(text) > width)
            width = strlen(text);
    }
    return width + ROW_GAP;
}

static void print_columns(FILE *out, const struct matrix *m,
                          const struct matrix_grid *grid, size_t from, size_t to)
{
    size_t first = row_width(m, grid);
    char text[TEXT_MAX];

    fprintf(out, "\n%s%-*s", report_style(out, STYLE_BOLD), (int)first, "");
    for (size_t l = from; l < to; l++)
        fprintf(out, "%-*s", (int)column_width(m, grid, l), grid->locks[l]->name);
    fprintf(out, "%s\n", report_style(out, STYLE_PLAIN));
    for (size_t r = 0; r < grid->row_count; r++) {
        matrix_row_text(&m->cells[grid->row_first[r]], text, sizeof text);
        fprintf(out, "%-*s", (int)first, text);
        for (size_t l = from; l < to; l++) {
            const struct matrix_cell *cell = matrix_grid_cell(grid, m, r, l);

            if (cell != NULL)
                matrix_cell_text(m, cell, text, sizeof text);
            fprintf(out, "%s%-*s%s", report_style(out, style_of(m, cell)),
                    (int)column_width(m, grid, l), cell != NULL ? text : "",
                    report_style(out, STYLE_PLAIN));
        }
        fputc('\n', out);
    }
}

/* As many columns at a time as there is room for, but at least one. */
static void print_table(FILE *out, const struct matrix *m, size_t width)
{
    struct matrix_grid grid;
    size_t from = 0, to, used;

    matrix_grid_make(&grid, m);
    for (; from < grid.lock_count; from = to) {
        used = row_width(m, &grid) + column_width(m, &grid, from);
        for (to = from + 1; to < grid.lock_count; to++) {
            used += column_width(m, &grid, to);
            if (used > width)
                break;
        }
        print_columns(out, m, &grid, from, to);
    }
    matrix_grid_free(&grid);
}

/* Each performance with an unexpected outcome, with the command that repeats it. */
static void print_odd(FILE *out, const struct matrix *m, const char *bullet,
                      const char *code)
{
    char command[MATRIX_COMMAND_MAX], expected[TEXT_MAX];

    for (size_t i = 0; i < m->cell_count; i++) {
        const struct matrix_cell *cell = &m->cells[i];

        for (int seed = 0; seed < m->seed_count; seed++) {
            const struct matrix_run *run = &cell->runs[seed];

            if (!run->is_done || run->verdict == VERDICT_VALID)
                continue;
            matrix_command(m, cell, seed, command);
            matrix_expected_text(cell, expected, sizeof expected);
            fprintf(out, "%s%s: %s, %s, seed %" PRIu32 ": expected %s; %s%s%s\n%s  %s%s%s\n",
                    bullet, verdict_beside_expectation(run->verdict), cell->setup.scenario->name,
                    cell->setup.lock->name, matrix_seed(m, seed), expected,
                    run->verdict == VERDICT_INVALID
                        ? scenario_outcome_name(run->outcome, false)
                        : "it did not happen",
                    run->why[0] != '\0' ? ": " : "", run->why, *code != '\0' ? "\n" : "",
                    code, command, code);
        }
    }
}

static void print_totals(FILE *out, const struct matrix *m, const char *bullet)
{
    struct matrix_totals t = matrix_sum(m);

    fprintf(out,
            "%s%zu scenarios, %zu locks, %zu cells, %zu of %zu performances (%zu had to be "
            "performed again)\n"
            "%s%" PRId64 " faults injected: %" PRId64 " of the stories, %" PRId64
            " stalls of the background loads\n"
            "%s%" PRId64 " delays on the background loads' wires\n"
            "%s%" PRId64 " holds checked: %" PRId64 " of the stories, %" PRId64
            " of the background loads (%" PRId64 " of their calls failed)\n"
            "%s%.0f s; %d at a time, and %d of those with faults of servers\n",
            bullet, t.scenarios, t.locks, t.cells, t.done, t.planned, t.repeated, bullet,
            t.faults + t.stalls, t.faults, t.stalls, bullet, t.delays, bullet,
            t.story_holds + t.background_holds, t.story_holds, t.background_holds,
            t.background_failures, bullet, (double)m->elapsed_ms / 1000, m->jobs, m->labs);
}

void matrix_print(FILE *out, const struct matrix *m, int width)
{
    bool is_odd = matrix_sum(m).cells_of.of[VERDICT_INVALID] > 0;
    char head[160];

    matrix_headline(m, head, sizeof head);
    fprintf(out, "%s%s%s\n", report_style(out, is_odd ? STYLE_BAD : STYLE_BOLD), head,
            report_style(out, STYLE_PLAIN));
    print_table(out, m, (size_t)width);
    fputc('\n', out);
    print_odd(out, m, "", "");
    fputs("In each cell: what came of it with every seed.  \"2/5!\": two of five came out\n"
          "otherwise than expected; \"1/5?\": one did not happen; \"-\": not done; empty: "
          "the\nstory is not about this lock.\n",
          out);
    print_totals(out, m, "");
}

/* ---- Markdown ---- */

static void markdown_table(FILE *out, const struct matrix *m)
{
    struct matrix_grid grid;
    char text[TEXT_MAX];

    matrix_grid_make(&grid, m);
    fputs("\n| scenario |", out);
    for (size_t l = 0; l < grid.lock_count; l++)
        fprintf(out, " `%s` |", grid.locks[l]->name);
    fputs("\n|---|", out);
    for (size_t l = 0; l < grid.lock_count; l++)
        fputs("---|", out);
    for (size_t r = 0; r < grid.row_count; r++) {
        matrix_row_text(&m->cells[grid.row_first[r]], text, sizeof text);
        fprintf(out, "\n| %s |", text);
        for (size_t l = 0; l < grid.lock_count; l++) {
            const struct matrix_cell *cell = matrix_grid_cell(&grid, m, r, l);
            bool is_odd = cell != NULL && matrix_cell_verdict(m, cell) == VERDICT_INVALID;

            if (cell != NULL)
                matrix_cell_text(m, cell, text, sizeof text);
            fprintf(out, " %s%s%s |", is_odd ? "**" : "", cell != NULL ? text : "",
                    is_odd ? "**" : "");
        }
    }
    fputc('\n', out);
    matrix_grid_free(&grid);
}

static void markdown_scenarios(FILE *out, const struct matrix *m)
{
    fputs("\n## The scenarios\n\n", out);
    for (size_t i = 0; i < m->cell_count; i++) {
        const struct scenario *scenario = m->cells[i].setup.scenario;

        if (i == 0 || scenario != m->cells[i - 1].setup.scenario)
            fprintf(out, "- `%s` (%s): %s\n", scenario->name, scenario->number,
                    scenario->title);
    }
}

static void markdown_method(FILE *out, const struct matrix *m)
{
    char machine[MACHINE_TEXT_MAX];

    fputs("\n## How it was done\n\n", out);
    print_totals(out, m, "- ");
    fprintf(out,
            "- seeds %" PRIu32 " to %" PRIu32 "%s\n"
            "- %s, which everything shares\n"
            "- beside each story a background load takes and releases other names on the "
            "same servers; the same checker judges it\n",
            m->first_seed, matrix_seed(m, m->seed_count - 1),
            m->parts > 1 ? ", a part of the performances" : "", machine_text(machine));
}

bool matrix_write_markdown(const struct matrix *m)
{
    char path[FILES_PATH_MAX], head[160], *text = NULL;
    size_t size = 0;
    FILE *out = result_page_stream(&text, &size);
    bool ok;

    matrix_headline(m, head, sizeof head);
    fprintf(out, "%s.  Begun %s.\n\n", head,
            m->started);
    print_odd(out, m, "- ", "`");
    markdown_table(out, m);
    markdown_scenarios(out, m);
    markdown_method(out, m);
    files_join(path, m->dir, "matrix.md");
    ok = fclose(out) == 0 && result_page_write(path, "Every scenario under every lock", text);
    free(text);
    return ok;
}
