/* SPDX-License-Identifier: MIT */
/* stopped.c -- which layer stopped how many orders, and examples of what no layer stopped. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "loadtest/page/scene.h"
#include "loadtest/report/parts.h"
#include "loadtest/report/view.h"

enum { LAYERS_MAX = 12, ROWS_MAX = 24, EXAMPLES_MAX = 10 };

struct layers {
    const char *names[LAYERS_MAX];
    int count;
};

/* The layers that stopped anything in any sale that is shown. */
static void collect(struct layers *layers, const json_t *stopped)
{
    const json_t *count;
    const char *name;
    bool is_there;

    json_object_foreach(json_object_get(stopped, "layers"), name, count)
    {
        is_there = json_integer_value(count) == 0;
        for (int i = 0; i < layers->count && !is_there; i++)
            is_there = strcmp(layers->names[i], name) == 0;
        if (!is_there && layers->count < LAYERS_MAX)
            layers->names[layers->count++] = name;
    }
}

static const json_t *stopped_of(const struct run_data *data, const struct view_cell *cell)
{
    return *cell->dir ? json_object_get(view_sale(data, cell->dir), "stopped") : NULL;
}

static void print_row(FILE *out, const struct run_data *data, const struct view_cell *cell,
                      const struct layers *layers)
{
    const json_t *counts = json_object_get(stopped_of(data, cell), "layers");
    char text[FIGURE_MAX];

    fputs("<tr><th scope=\"row\"><code>", out);
    page_text(out, *cell->row ? cell->row : "reentrant");
    fputs(" ", out);
    page_text(out, cell->group);
    fputs(" ", out);
    page_text(out, cell->column);
    fputs("</code></th>", out);
    for (int i = 0; i < layers->count; i++)
        fprintf(out, "<td class=\"number\">%s</td>",
                figure_whole(json_whole(counts, layers->names[i]), text));
    fputs("<td>", out);
    if (cell->mark == CELL_MARK_SOUND)
        fputs("0", out);
    else
        part_mark(out, cell);
    fputs("</td></tr>\n", out);
}

/* Print the sales with a finding first, since there a layer should have stopped the order. */
static void print_table(FILE *out, const struct run_data *data, const struct view *view,
                        const struct layers *layers)
{
    int rows = 0, all = 0;
    char a[FIGURE_MAX], b[FIGURE_MAX];

    fputs("<div class=\"wide\"><table><thead><tr>", out);
    say_head(out, WORD_SALE, false);
    for (int i = 0; i < layers->count; i++) {
        fputs("<th scope=\"col\" class=\"number\"><code>", out);
        page_text(out, layers->names[i]);
        fputs("</code></th>", out);
    }
    say_head(out, WORD_THROUGH, false);
    fputs("</tr></thead>\n<tbody>\n", out);
    for (int is_sound = 0; is_sound < 2; is_sound++)
        for (size_t i = 0; i < view->count; i++) {
            const struct view_cell *cell = &view->cells[i];

            if ((cell->mark == CELL_MARK_SOUND) != is_sound || !stopped_of(data, cell) ||
                all++ >= ROWS_MAX)
                continue;
            print_row(out, data, cell, layers);
            rows++;
        }
    fputs("</tbody></table></div>\n", out);
    if (rows == all)
        return;
    say_in(out, "p class=\"soft\"", STOPPED_SOME, figure_whole(rows, a),
           figure_whole(all, b));
}

static void print_examples(FILE *out, const struct run_data *data, const struct view *view)
{
    int shown = 0;

    for (size_t i = 0; i < view->count && shown < EXAMPLES_MAX; i++) {
        const json_t *checks = json_object_get(
            json_object_get(view_sale(data, view->cells[i].dir), "verdict"), "checks");
        const json_t *check, *example;
        const char *name;
        size_t j;

        json_object_foreach((json_t *)checks, name, check)
        {
            json_array_foreach(json_object_get(check, "examples"), j, example)
            {
                if (!json_is_string(example) || shown == EXAMPLES_MAX)
                    continue;
                if (shown++ == 0) {
                    say_in(out, "h2", EXAMPLES);
                    fputs("<ul class=\"plain\" translate=\"no\">\n", out);
                }
                fputs("<li><code>", out);
                page_text(out, view->cells[i].row);
                fputs(" ", out);
                page_text(out, name);
                fputs("</code>: <bdi lang=\"en\">", out);
                page_text(out, json_string_value(example));
                fputs("</bdi></li>\n", out);
            }
        }
    }
    if (shown > 0)
        fputs("</ul>\n", out);
}

static const char *count_text(double count, char out[FIGURE_MAX])
{
    return figure_whole(fabs(count) < 9e15 ? (int64_t)count : 0, out);
}

void part_stopped(FILE *out, const struct run_data *data, const struct view *view)
{
    struct layers layers = {0};
    double processes = 0, asked = 0; /* the file is data: its numbers may have no sum */
    bool is_kept = false;
    char a[FIGURE_MAX], b[FIGURE_MAX];

    if (view->count == 0 || (strcmp(view->kind, "load") != 0 && strcmp(view->kind, "compare") != 0))
        return;
    for (size_t i = 0; i < view->count; i++) {
        const json_t *stopped = stopped_of(data, &view->cells[i]);

        collect(&layers, stopped);
        processes += json_double(stopped, "processes");
        asked += json_double(stopped, "asked");
        is_kept = is_kept || stopped;
    }
    say_section(out, "stopped", WORD_STOPPED);
    if (is_kept)
        print_table(out, data, view, &layers);
    fputs("<p class=\"soft\">", out);
    if (!is_kept)
        say(out, STOPPED_NONE);
    else
        say(out, STOPPED_HOW);
    if (asked < processes) {
        fputc(' ', out);
        say(out, STOPPED_PART, count_text(asked, a), count_text(processes, b));
    }
    fputs("</p>\n", out);
    print_examples(out, data, view);
    fputs("</section>\n", out);
}
