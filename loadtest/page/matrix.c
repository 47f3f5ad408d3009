/* SPDX-License-Identifier: MIT */
/* matrix.c -- the matrix as one HTML file that needs nothing else: the table, and for
 * each cell what was expected, what came, how it was told, and how to see it again, put
 * into loadtest/page/matrix.html. */
#include "loadtest/page/matrix.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "gen/matrix_html.h"
#include "loadtest/kit/memory.h"
#include "loadtest/page/page.h"

enum { TEXT_MAX = 256 };

static const char content_mark[] = "<!--CONTENT-->\n";

static const char *class_of(const struct matrix *m, const struct matrix_cell *cell)
{
    if (!matrix_cell_is_done(m, cell))
        return "none";
    switch (matrix_cell_verdict(m, cell)) {
    case VERDICT_INVALID:
        return "bad";
    case VERDICT_UNKNOWN:
        return "unknown";
    default:
        break;
    }
    return cell->setup.expected->outcome == SCENARIO_BREAKS ||
                   cell->setup.expected->outcome == SCENARIO_DEAD
               ? "breaks"
               : "good";
}

static void print_head(FILE *out, const struct matrix *m)
{
    struct matrix_totals t = matrix_sum(m);
    char text[TEXT_MAX];

    matrix_headline(m, text, sizeof text);
    fprintf(out,
            "<h1>Every scenario under every lock</h1>\n<p>%s.</p>\n"
            "<p class=\"note\">%zu scenarios, %zu locks, %zu of %zu performances on real "
            "servers; %" PRId64 " faults injected, %" PRId64
            " of them stalls of the crowds beside the stories, and %" PRId64
            " delays on the crowds' wires; %" PRId64 " holds checked, %" PRId64
            " of them of the crowds; %.0f s.  Begun %s.</p>\n",
            text, t.scenarios, t.locks, t.done, t.planned, t.faults + t.stalls,
            t.stalls, t.delays,
            t.story_holds + t.crowd_holds, t.crowd_holds, (double)m->elapsed_ms / 1000,
            m->started);
}

static void print_cell(FILE *out, const struct matrix *m, const struct matrix_cell *cell)
{
    char text[TEXT_MAX];

    if (cell == NULL) {
        fputs("<td></td>", out);
        return;
    }
    matrix_cell_text(m, cell, text, sizeof text);
    fprintf(out, "<td><a class=\"%s\" href=\"#cell-%zu\">", class_of(m, cell),
            (size_t)(cell - m->cells));
    page_text(out, text);
    fputs("</a></td>", out);
}

static void print_table(FILE *out, const struct matrix *m)
{
    struct matrix_grid grid;
    char text[TEXT_MAX];

    matrix_grid_make(&grid, m);
    fputs("<p class=\"note\">In each cell: what came of it with every seed.  \"2/5!\": two "
          "of five came out otherwise than expected; \"1/5?\": one did not happen; "
          "\"-\": not done; empty: the story is not about this lock.  A cell leads to its "
          "performances.</p>\n"
          "<div class=\"wide\"><table>\n<tr><th scope=\"col\">scenario</th>", out);
    for (size_t l = 0; l < grid.lock_count; l++)
        fprintf(out, "<th scope=\"col\">%s</th>", grid.locks[l]->name);
    for (size_t r = 0; r < grid.row_count; r++) {
        matrix_row_text(&m->cells[grid.row_first[r]], text, sizeof text);
        fprintf(out, "</tr>\n<tr><th scope=\"row\">%s</th>", text);
        for (size_t l = 0; l < grid.lock_count; l++)
            print_cell(out, m, matrix_grid_cell(&grid, m, r, l));
    }
    fputs("</tr>\n</table></div>\n", out);
    matrix_grid_free(&grid);
}

static void print_run(FILE *out, const struct matrix *m, const struct matrix_cell *cell,
                      int seed)
{
    const struct matrix_run *run = &cell->runs[seed];
    char text[TEXT_MAX], command[MATRIX_COMMAND_MAX];

    if (!run->is_planned)
        return;
    matrix_run_text(run, text, sizeof text);
    matrix_command(m, cell, seed, command);
    fprintf(out, "<li>seed %" PRIu32 ": <span class=\"%s\">%s</span>, ",
            matrix_seed(m, seed), run->is_done && run->verdict == VERDICT_VALID ? "good" : "bad",
            matrix_verdict_name(run->is_done, run->verdict));
    page_text(out, text);
    if (run->why[0] != '\0') {
        fputs("; ", out);
        page_text(out, run->why);
    }
    fprintf(out,
            "; %" PRId64 " faults and %" PRId64 " stalls, %" PRId64 " and %" PRId64
            " holds, %" PRId64 " ms",
            run->faults, run->stalls, run->story_holds, run->crowd_holds, run->took_ms);
    if (run->tries > 1)
        fprintf(out, ", performed %d times: ", run->tries);
    page_text(out, run->spoilt);
    if (run->is_kept)
        fprintf(out, "; <a href=\"%s/page.html\">drawn</a>, <a href=\"%s/story.txt\">told</a>",
                run->dir, run->dir);
    fputs("<br><code>", out);
    page_text(out, command);
    fputs("</code></li>\n", out);
}

static void print_details(FILE *out, const struct matrix *m,
                          const struct matrix_cell *cell)
{
    char expected[TEXT_MAX];
    int good = (int)matrix_cell_counts(m, cell).of[VERDICT_VALID], planned = 0;

    for (int i = 0; i < m->seed_count; i++)
        planned += cell->runs[i].is_planned;
    if (planned == 0)
        return;
    matrix_expected_text(cell, expected, sizeof expected);
    fprintf(out, "<details id=\"cell-%zu\"%s><summary><b>%s</b>",
            (size_t)(cell - m->cells),
            matrix_cell_verdict(m, cell) != VERDICT_VALID ? " open" : "",
            cell->setup.lock->name);
    if (cell->setup.expected->guard != NULL)
        fprintf(out, " under the stock guard %s", cell->setup.guard->name);
    fprintf(out, ": expected %s; <span class=\"%s\">%d of %d seeds as expected</span>"
                 "</summary>\n<ol>\n",
            expected, class_of(m, cell), good, planned);
    for (int i = 0; i < m->seed_count; i++)
        print_run(out, m, cell, i);
    fputs("</ol>\n", out);
    if (cell->story != NULL) {
        fputs("<pre>", out);
        for (const char *line = cell->story; *line != '\0';) {
            char text[1024];
            size_t length = strcspn(line, "\n");

            snprintf(text, sizeof text, "%.*s", (int)length, line);
            page_text(out, text);
            fputc('\n', out);
            line += length + (line[length] == '\n');
        }
        fputs("</pre>\n", out);
    }
    fputs("</details>\n", out);
}

static void print_scenario(FILE *out, const struct scenario *scenario)
{
    fputs("<h2>", out);
    page_both(out, scenario->title, scenario->title_zh);
    fprintf(out, "</h2>\n<p class=\"note\">%s <code>%s</code>: ", scenario->number,
            scenario->name);
    page_text(out, scenario->source);
    fputs("</p>\n", out);
}

static void print_page(FILE *out, const struct matrix *m)
{
    page_piece(out, MATRIX_HTML, NULL, content_mark);
    print_head(out, m);
    print_table(out, m);
    for (size_t i = 0; i < m->cell_count; i++) {
        const struct scenario *scenario = m->cells[i].setup.scenario;

        if (i == 0 || m->cells[i - 1].setup.scenario != scenario)
            print_scenario(out, scenario);
        print_details(out, m, &m->cells[i]);
    }
    page_piece(out, MATRIX_HTML, content_mark, NULL);
}

bool matrix_write_page(const struct matrix *m)
{
    char path[FILES_PATH_MAX], *text = NULL;
    size_t size = 0;
    FILE *out = memory_need(open_memstream(&text, &size));
    bool ok;

    print_page(out, m);
    if (fclose(out) != 0) {
        fprintf(stderr, "seckill matrix: no memory for the page\n");
        return false;
    }
    files_join(path, m->dir, "matrix.html");
    ok = files_write(path, text);
    if (!ok)
        fprintf(stderr, "seckill matrix: cannot write %s: %s\n", path, strerror(errno));
    free(text);
    return ok;
}
