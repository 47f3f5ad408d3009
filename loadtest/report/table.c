/* SPDX-License-Identifier: MIT */
/* table.c -- the verdict beside the speed: a table for each experiment, or one sale's facts. */
#include <stdlib.h>
#include <string.h>

#include "loadtest/kit/memory.h"
#include "loadtest/page/scene.h"
#include "loadtest/report/parts.h"
#include "loadtest/report/view.h"

void part_mark(FILE *out, const struct view_cell *cell)
{
    char excess[FIGURE_MAX];

    figure_whole(cell->excess, excess);
    switch (cell->mark) {
    case CELL_MARK_NOT_DONE:
    case CELL_MARK_MEASURED:
        say(out, NOT_DONE);
        break;
    case CELL_MARK_SOUND:
        say(out, SOUND);
        break;
    case CELL_MARK_WRONG:
        say(out, WRONG);
        break;
    case CELL_MARK_UNKNOWN:
        say(out, UNKNOWN);
        break;
    case CELL_MARK_BROKEN:
        if (cell->excess == 0)
            say(out, LOST);
        else if (cell->is_per_user)
            say(out, TWICE, excess);
        else
            say(out, OVER, excess);
        break;
    }
}

void part_outcome(FILE *out, const struct view_cell *cell)
{
    bool is_unknown = cell->is_unknown && cell->mark != CELL_MARK_UNKNOWN;
    bool is_not_done = cell->is_not_done && cell->mark != CELL_MARK_NOT_DONE;

    if (!cell->is_unexpected && !cell->has_no_expectation && !is_unknown && !is_not_done)
        return;
    fprintf(out, " <b class=\"%s\">", is_unknown || is_not_done ? "doubt" : "bad");
    if (cell->is_unexpected)
        say(out, UNEXPECTED);
    else if (cell->has_no_expectation)
        say(out, NO_EXPECTATION);
    else if (is_unknown)
        say(out, UNKNOWN);
    else
        say(out, NOT_DONE);
    fputs("</b>", out);
}

static const char *class_of(const struct view_cell *cell)
{
    switch (cell->mark) {
    case CELL_MARK_SOUND:
        return "good";
    case CELL_MARK_BROKEN:
    case CELL_MARK_WRONG:
        return "bad";
    default:
        return "doubt";
    }
}

/* "1,234/s (1,100 – 1,300), p99 12 ms"; struck out for a lock that was wrong. */
static void print_speed(FILE *out, const struct view_cell *cell)
{
    bool is_wrong = cell->mark == CELL_MARK_BROKEN || cell->mark == CELL_MARK_WRONG;
    char text[FIGURE_MAX], least[FIGURE_MAX], most[FIGURE_MAX];

    if (cell->speed.count == 0)
        return;
    fprintf(out, "<span class=\"s\">%s", is_wrong ? "<s>" : "");
    say(out, RATE, figure(values_median(&cell->speed), text));
    if (cell->speed.count > 1)
        fprintf(out, " (%s – %s)", figure(values_least(&cell->speed), least),
                figure(values_most(&cell->speed), most));
    if (cell->p99_ms.count > 0) {
        fputs(", ", out);
        say(out, P99, figure(values_median(&cell->p99_ms), text));
    }
    fprintf(out, "%s</span>", is_wrong ? "</s>" : "");
}

static void print_cell(FILE *out, const struct view_cell *cell)
{
    char bad[FIGURE_MAX], done[FIGURE_MAX];

    if (!cell) {
        fputs("<td></td>", out);
        return;
    }
    fprintf(out, "<td%s><span class=\"v %s\">", cell->is_unexpected ? " class=\"odd\"" : "",
            class_of(cell));
    part_mark(out, cell);
    fputs("</span>", out);
    if (cell->bad > 0 && cell->bad < cell->done) {
        fputs(" (", out);
        say(out, OF_RUNS, figure_whole(cell->bad, bad), figure_whole(cell->done, done));
        fputc(')', out);
    }
    part_outcome(out, cell);
    print_speed(out, cell);
    fputs("</td>", out);
}

/* ---- rows and columns of one experiment ---- */

enum { NAMES_MAX = 64 };

struct grid {
    const char *rows[NAMES_MAX], *columns[NAMES_MAX];
    int row_count, column_count;
};

static void add_name(const char **names, int *count, const char *name)
{
    for (int i = 0; i < *count; i++)
        if (strcmp(names[i], name) == 0)
            return;
    if (*count < NAMES_MAX)
        names[(*count)++] = name;
}

static const struct view_cell *find(const struct view *view, const char *group,
                                    const char *column, const char *row)
{
    for (size_t i = 0; i < view->count; i++) {
        const struct view_cell *cell = &view->cells[i];

        if (strcmp(cell->group, group) == 0 && strcmp(cell->column, column) == 0 &&
            strcmp(cell->row, row) == 0)
            return cell;
    }
    return NULL;
}

/* The key by which locks are sorted: sound locks come first, and among them the fastest. */
static double rank(const struct view *view, const struct grid *grid, const char *group,
                   const char *row)
{
    double bad = 0, speed = 0;

    for (int i = 0; i < grid->column_count; i++) {
        const struct view_cell *cell = find(view, group, grid->columns[i], row);

        bad += cell && cell->mark != CELL_MARK_SOUND;
        if (cell && speed == 0)
            speed = values_median(&cell->speed);
    }
    return bad * 1e9 - speed;
}

static void sort_rows(const struct view *view, struct grid *grid, const char *group)
{
    double ranks[NAMES_MAX];

    for (int i = 0; i < grid->row_count; i++) {
        const char *row = grid->rows[i];
        double value = rank(view, grid, group, row);
        int at = i;

        for (; at > 0 && ranks[at - 1] > value; at--) {
            ranks[at] = ranks[at - 1];
            grid->rows[at] = grid->rows[at - 1];
        }
        ranks[at] = value;
        grid->rows[at] = row;
    }
}

static void say_question(FILE *out, const char *experiment)
{
    if (strcmp(experiment, "oversell") == 0)
        say(out, Q_OVERSELL);
    else if (strcmp(experiment, "one-per-user") == 0)
        say(out, Q_ONE_PER_USER);
    else if (strcmp(experiment, "fencing") == 0)
        say(out, Q_FENCING);
    else
        page_text(out, experiment);
}

/* Returns how many cells it has shown: names that are too many, or the same twice, have none. */
static size_t print_group(FILE *out, const struct view *view, const char *group)
{
    struct grid grid = {0};
    size_t shown = 0;

    for (size_t i = 0; i < view->count; i++) {
        if (strcmp(view->cells[i].group, group) != 0)
            continue;
        add_name(grid.rows, &grid.row_count, view->cells[i].row);
        add_name(grid.columns, &grid.column_count, view->cells[i].column);
    }
    sort_rows(view, &grid, group);
    fputs("<div class=\"wide\"><table>\n<caption>", out);
    say_question(out, group);
    fputs("</caption>\n<thead><tr>", out);
    say_head(out, WORD_LOCK, false);
    for (int c = 0; c < grid.column_count; c++) {
        fputs("<th scope=\"col\"><code>", out);
        page_text(out, grid.columns[c]);
        fputs("</code></th>", out);
    }
    fputs("</tr></thead>\n<tbody>\n", out);
    for (int r = 0; r < grid.row_count; r++) {
        fputs("<tr><th scope=\"row\"><code>", out);
        page_text(out, grid.rows[r]);
        fputs("</code></th>", out);
        for (int c = 0; c < grid.column_count; c++) {
            const struct view_cell *cell = find(view, group, grid.columns[c], grid.rows[r]);

            print_cell(out, cell);
            shown += cell != NULL;
        }
        fputs("</tr>\n", out);
    }
    fputs("</tbody></table></div>\n", out);
    return shown;
}

static void print_hazards(FILE *out, const struct view *view)
{
    static const struct {
        const char *name;
        enum word word;
    } hazards[] = {{"calm", WORD_H_CALM},
                   {"slow", WORD_H_SLOW},
                   {"freeze", WORD_H_FREEZE},
                   {"check-gap", WORD_H_CHECK_GAP}};

    fputs("<ul class=\"plain soft\">\n", out);
    for (size_t h = 0; h < sizeof hazards / sizeof hazards[0]; h++) {
        bool is_there = false;

        for (size_t i = 0; i < view->count && !is_there; i++)
            is_there = strcmp(view->cells[i].column, hazards[h].name) == 0;
        if (!is_there)
            continue;
        fputs("<li>", out);
        say_words(out, hazards[h].word, (const char *const[]){""});
        fputs("</li>\n", out);
    }
    fputs("</ul>\n", out);
}

static void print_tables(FILE *out, const struct view *view)
{
    const char *groups[NAMES_MAX];
    size_t shown = 0;
    char more[FIGURE_MAX];
    int count = 0;

    for (size_t i = 0; i < view->count; i++)
        add_name(groups, &count, view->cells[i].group);
    for (int i = 0; i < count; i++)
        shown += print_group(out, view, groups[i]);
    if (shown < view->count)
        say_in(out, "p", TABLE_MORE,
               figure_whole((int64_t)(view->count - shown), more));
    fputs("<p class=\"soft\">", out);
    say(out, TABLE_HOW);
    fputc(' ', out);
    say(out, TABLE_RANGE);
    fputs("</p>\n", out);
    print_hazards(out, view);
}

/* ---- one sale ---- */

static void fact(FILE *out, enum word word, const char *value)
{
    fputs("<dt>", out);
    say_words(out, word, (const char *const[]){""});
    fputs("</dt><dd>", out);
    page_text(out, value);
    fputs("</dd>\n", out);
}

static void print_latencies(FILE *out, const json_t *latency)
{
    static const char *const keys[] = {"p50_ms", "p90_ms", "p99_ms", "max_ms"};
    char text[4 * FIGURE_MAX] = "", one[FIGURE_MAX];

    for (size_t i = 0; i < sizeof keys / sizeof keys[0]; i++) {
        size_t used = strlen(text);

        snprintf(text + used, sizeof text - used, "%s%s", i ? ", " : "",
                 figure(json_double(latency, keys[i]), one));
    }
    fputs("<dt>", out);
    say(out, LATENCY_OF);
    fputs("</dt><dd>", out);
    say(out, MS, text);
    fputs("</dd>\n", out);
}

static void print_answers(FILE *out, const json_t *load)
{
    const json_t *outcomes = json_object_get(load, "outcomes"), *count;
    const char *name, *comma = "";
    char text[FIGURE_MAX];

    fputs("<dt>", out);
    say(out, ANSWERS);
    fputs("</dt><dd>", out);
    json_object_foreach((json_t *)outcomes, name, count)
    {
        fprintf(out, "%s<code>", comma);
        page_text(out, name);
        fprintf(out, "</code> %s", figure_whole(json_integer_value(count), text));
        comma = ", ";
    }
    fputs("</dd>\n", out);
}

static void print_sale(FILE *out, const struct run_data *data, const struct view_cell *cell)
{
    const json_t *sale = view_sale(data, cell->dir), *load = json_object_get(sale, "load");
    const json_t *verdict = json_object_get(sale, "verdict");
    char text[FIGURE_MAX];

    fputs("<dl class=\"facts\">\n", out);
    if (!view_is_remote(data)) {
        fputs("<dt>", out);
        say(out, LOCK);
        fputs("</dt><dd><code>", out);
        page_text(out, *cell->row ? cell->row : "reentrant");
        fprintf(out, "</code> <b class=\"%s\">", class_of(cell));
        part_mark(out, cell);
        fputs("</b></dd>\n", out);
        fact(out, WORD_ISSUED, figure_whole(json_whole(verdict, "issued"), text));
        fact(out, WORD_ORDERS, figure_whole(json_whole(verdict, "orders"), text));
        fact(out, WORD_LEFT, figure_whole(json_whole(verdict, "left"), text));
        fact(out, WORD_TOLD, figure_whole(json_whole(verdict, "told"), text));
    }
    fact(out, WORD_UNANSWERED, figure_whole(json_whole(load, "unanswered"), text));
    if (cell->speed.count > 0) {
        bool is_wrong = cell->mark == CELL_MARK_BROKEN || cell->mark == CELL_MARK_WRONG;

        fputs("<dt>", out);
        say(out, SPEED);
        fprintf(out, "</dt><dd>%s%s%s</dd>\n", is_wrong ? "<s>" : "",
                figure(values_median(&cell->speed), text), is_wrong ? "</s>" : "");
    }
    if (json_is_object(json_object_get(load, "latency_accepted")))
        print_latencies(out, json_object_get(load, "latency_accepted"));
    if (load)
        print_answers(out, load);
    fputs("</dl>\n", out);
}

void part_table(FILE *out, const struct run_data *data, const struct view *view)
{
    bool is_load = strcmp(view->kind, "load") == 0;

    if (view->count == 0 || (!is_load && strcmp(view->kind, "compare") != 0))
        return;
    say_section(out, "results", WORD_RESULTS);
    if (is_load)
        print_sale(out, data, &view->cells[0]);
    else
        print_tables(out, view);
    fputs("</section>\n", out);
}
