/* SPDX-License-Identifier: MIT */
/* matrix.c -- the matrix as one HTML file that needs no other file.  The file is
 * loadtest/page/matrix.html with the table and, for each cell, the expected and the seen outcome,
 * the story, and the command that performs the cell again. */
#include "loadtest/page/matrix.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "gen/matrix_html.h"
#include "loadtest/kit/memory.h"
#include "loadtest/page/page.h"
#include "loadtest/page/words.h"
#include "loadtest/scenario/result.h"

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

/* The number of cells with each result, as matrix_headline() says it. */
static void print_headline(FILE *out, const struct matrix *m, const struct matrix_totals *t)
{
    enum page_word end = m->was_interrupted ? PAGE_WORD_CUT_SHORT
                         : m->was_limited   ? PAGE_WORD_TIME_UP
                                            : PAGE_WORD_ENDED;

    if (t->cells_of.of[VERDICT_INVALID] > 0)
        fputs("<p class=\"verdict bad\">✗ ", out);
    else if (t->cells_of.of[VERDICT_UNKNOWN] > 0 || t->done < t->planned)
        fputs("<p class=\"verdict doubt\">? ", out);
    else
        fputs("<p class=\"verdict good\">✓ ", out);
    page_say(out, CELLS_OK, WHOLE(t->cells_of.of[VERDICT_VALID]), WHOLE(t->cells));
    if (t->cells_of.of[VERDICT_INVALID] > 0)
        page_say(out, CELLS_BAD, WHOLE(t->cells_of.of[VERDICT_INVALID]));
    if (t->cells_of.of[VERDICT_UNKNOWN] > 0)
        page_say(out, CELLS_UNKNOWN, WHOLE(t->cells_of.of[VERDICT_UNKNOWN]));
    if (t->done < t->planned)
        page_say_words(out, end, (const char *const[]){"", WHOLE(t->done), WHOLE(t->planned)});
    fputs("</p>\n", out);
}

static void print_head(FILE *out, const struct matrix *m)
{
    struct matrix_totals t = matrix_sum(m);

    fputs("<header class=\"row\"><h1>", out);
    page_say(out, MATRIX);
    fputs("</h1><span class=\"tools\"></span></header>\n", out);
    print_headline(out, m, &t);
    fputs("<p class=\"note not-presented\">", out);
    page_say(out, SIZE, WHOLE(t.scenarios), WHOLE(t.locks), WHOLE(t.done), WHOLE(t.planned));
    fputs(" ", out);
    page_say(out, FAULTS_GIVEN, WHOLE(t.faults + t.stalls), WHOLE(t.stalls), WHOLE(t.delays));
    fputs(" ", out);
    page_say(out, HOLDS_CHECKED, WHOLE(t.story_holds + t.background_holds),
             WHOLE(t.background_holds), WHOLE((m->elapsed_ms + 500) / 1000), m->started);
    fputs("</p>\n", out);
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
    page_phrase(out, "span", text);
    fputs("</a></td>", out);
}

static void print_table(FILE *out, const struct matrix *m)
{
    struct matrix_grid grid;
    char text[TEXT_MAX];

    matrix_grid_make(&grid, m);
    page_say_in(out, "p class=\"note not-presented\"", HOW_CELLS);
    fputs("<div class=\"wide\" role=\"group\" tabindex=\"0\"", out);
    page_name(out, TABLE);
    fputs("><table>\n<tr><th scope=\"col\">", out);
    page_say(out, SCENARIO);
    fputs("</th>", out);
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

/* The signs of a set, after `before`. */
static void print_signs(FILE *out, unsigned signs, enum page_word before)
{
    for (int i = 0; i < SIGN_COUNT; i++) {
        if (!(signs & (1u << i)))
            continue;
        page_say_words(out, before, (const char *const[]){""});
        page_phrase(out, "span", scenario_sign_name(i, false));
        before = PAGE_WORD_AND_SIGN;
    }
}

/* The outcome of a performance, and the signs that were seen. */
static void print_outcome(FILE *out, const struct matrix_run *run)
{
    if (!run->is_done || run->verdict == VERDICT_UNKNOWN) {
        page_phrase(out, "span", run->is_done ? "it did not happen" : "not done");
        return;
    }
    page_phrase(out, "span", scenario_outcome_name(run->outcome, false));
    print_signs(out, run->signs, PAGE_WORD_SEEN);
}

static void print_kept(FILE *out, const struct matrix_run *run)
{
    fprintf(out, "; <a href=\"%s/page.html\">", run->dir);
    page_say(out, DRAWN);
    fprintf(out, "</a>, <a href=\"%s/story.txt\">", run->dir);
    page_say(out, TOLD);
    fputs("</a>", out);
}

static void print_run(FILE *out, const struct matrix *m, const struct matrix_cell *cell,
                      int seed)
{
    const struct matrix_run *run = &cell->runs[seed];
    char command[MATRIX_COMMAND_MAX];

    if (!run->is_planned)
        return;
    matrix_command(m, cell, seed, command);
    fputs("<li>", out);
    page_say(out, SEED, WHOLE(matrix_seed(m, seed)));
    fprintf(out, "<span class=\"%s\">",
            run->is_done && run->verdict == VERDICT_VALID ? "good" : "bad");
    page_phrase(out, "span", matrix_verdict_name(run->is_done, run->verdict));
    fputs("</span> &#183; ", out);
    print_outcome(out, run);
    if (run->why[0] != '\0')
        page_say(out, WHY, run->why);
    page_say(out, RUN_COUNTS, WHOLE(run->faults), WHOLE(run->stalls), WHOLE(run->story_holds),
             WHOLE(run->background_holds), WHOLE(run->took_ms));
    if (run->tries > 1) {
        page_say(out, TRIES, WHOLE(run->tries));
        page_phrase(out, "span", run->spoilt);
    }
    if (run->is_kept)
        print_kept(out, run);
    fputs("<br>", out);
    page_say(out, AGAIN);
    fputs(" <code>", out);
    page_text(out, command);
    fputs("</code></li>\n", out);
}

/* The lines of the terminal, in one language; messages that the program says in English alone
 * are said in Chinese here. */
static void print_story(FILE *out, const char *story, bool is_chinese)
{
    fprintf(out, "<pre class=\"%s\" lang=\"%s\" role=\"group\" tabindex=\"0\"",
            is_chinese ? "zh" : "en", is_chinese ? "zh-CN" : "en");
    page_name(out, THE_STORY);
    fputs(">", out);
    for (const char *line = story; *line != '\0';) {
        char text[1024], chinese[PAGE_PHRASE_MAX];
        size_t length = strcspn(line, "\n");

        snprintf(text, sizeof text, "%.*s", (int)length, line);
        if (is_chinese && page_chinese(text, chinese))
            page_text(out, chinese);
        else
            page_text(out, text);
        fputc('\n', out);
        line += length + (line[length] == '\n');
    }
    fputs("</pre>\n", out);
}

static void print_summary(FILE *out, const struct matrix *m, const struct matrix_cell *cell,
                          int planned)
{
    const struct expectation *expected = cell->setup.expected;

    fprintf(out, "<summary><b>%s</b>", cell->setup.lock->name);
    if (expected->guard != NULL)
        page_say(out, UNDER_GUARD, cell->setup.guard->name);
    page_say(out, EXPECTED, scenario_outcome_name(expected->outcome, false));
    print_signs(out, expected->shows, PAGE_WORD_SHOWING);
    page_say(out, SEEDS_OK, WHOLE(matrix_cell_counts(m, cell).of[VERDICT_VALID]), WHOLE(planned),
             class_of(m, cell));
    fputs("</summary>\n", out);
}

static void print_details(FILE *out, const struct matrix *m,
                          const struct matrix_cell *cell)
{
    int planned = 0;

    for (int i = 0; i < m->seed_count; i++)
        planned += cell->runs[i].is_planned;
    if (planned == 0)
        return;
    fprintf(out, "<details id=\"cell-%zu\"%s>", (size_t)(cell - m->cells),
            matrix_cell_verdict(m, cell) != VERDICT_VALID ? " open" : "");
    print_summary(out, m, cell, planned);
    fputs("<ol>\n", out);
    for (int i = 0; i < m->seed_count; i++)
        print_run(out, m, cell, i);
    fputs("</ol>\n", out);
    if (cell->story != NULL) {
        print_story(out, cell->story, false);
        print_story(out, cell->story_zh != NULL ? cell->story_zh : cell->story, true);
    }
    fputs("</details>\n", out);
}

static void print_scenario(FILE *out, const struct scenario *scenario)
{
    fputs("<h2>", out);
    page_both(out, scenario->title, scenario->title_zh);
    fprintf(out, "</h2>\n<p class=\"note\">%s <code>%s</code>: ", scenario->number,
            scenario->name);
    page_phrase(out, "span", scenario->source);
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

    print_page(out, m);
    files_join(path, m->dir, "matrix.html");
    return page_keep(out, &text, path, "seckill matrix");
}
