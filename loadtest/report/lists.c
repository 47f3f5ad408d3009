/* SPDX-License-Identifier: MIT */
/* lists.c -- results that are a list: steps at a fixed rate, measurements, performances. */
#include <stdlib.h>
#include <string.h>

#include "loadtest/page/scene.h"
#include "loadtest/page/words.h"
#include "loadtest/report/parts.h"

enum { TEXT_MAX = 512 };

static void head_share(FILE *out, const char *share)
{
    fputs("<th scope=\"col\" class=\"number\">", out);
    say(out, SHARE_MS, share);
    fputs("</th>", out);
}

static void begin(FILE *out, const char *id, enum word title)
{
    say_section(out, id, title);
    fputs("<div class=\"wide\"><table><thead><tr>", out);
}

static void number(FILE *out, double value)
{
    char text[FIGURE_MAX];

    fprintf(out, "<td class=\"number\">%s</td>", figure(value, text));
}

/* ---- load --rate ---- */

static void print_step(FILE *out, const json_t *step)
{
    static const char *const keys[] = {"p50_ms", "p99_ms", "p99.9_ms", "max_ms"};
    const json_t *latency = json_object_get(step, "latency");

    fputs("<tr>", out);
    number(out, json_double(step, "rate"));
    number(out, json_double(step, "answered_per_s"));
    for (size_t i = 0; i < sizeof keys / sizeof keys[0]; i++)
        number(out, json_double(latency, keys[i]));
    fputs("<td>", out);
    if (json_is_false(json_object_get(step, "counts")))
        say(out, NO, json_text(step, "flaw"));
    else
        say(out, YES);
    fputs("</td></tr>\n", out);
}

static void print_thresholds(FILE *out, const json_t *rate)
{
    const json_t *objectives = json_object_get(rate, "objectives"), *objective;
    char text[TEXT_MAX] = "", highest[FIGURE_MAX];
    size_t i;

    json_array_foreach(objectives, i, objective)
    {
        size_t used = strlen(text);

        if (json_is_string(objective))
            snprintf(text + used, sizeof text - used, "%s%s", used ? ", " : "",
                     json_string_value(objective));
    }
    if (*text == '\0')
        return;
    fputs("<p>", out);
    if (json_is_integer(json_object_get(rate, "highest_rate")))
        say(out, HIGHEST, text, figure_whole(json_whole(rate, "highest_rate"), highest));
    else
        say(out, HIGHEST_NONE, text);
    fputs("</p>\n", out);
}

static void print_rates(FILE *out, const json_t *rate)
{
    const json_t *steps = json_object_get(rate, "steps"), *step;
    size_t i;

    if (json_array_size(steps) == 0)
        return;
    begin(out, "steps", WORD_STEPS);
    say_head(out, WORD_STEP_RATE, true);
    say_head(out, WORD_STEP_ANSWERED, true);
    head_share(out, "50");
    head_share(out, "99");
    head_share(out, "99.9");
    say_head(out, WORD_LONGEST_MS, true);
    say_head(out, WORD_STEP_COUNTS, false);
    fputs("</tr></thead>\n<tbody>\n", out);
    json_array_foreach(steps, i, step)
    {
        print_step(out, step);
    }
    fputs("</tbody></table></div>\n", out);
    print_thresholds(out, rate);
    fputs("</section>\n", out);
}

/* ---- bench ---- */

/* " p99 ≤ 60"; nothing if the row has no such target. */
static void print_limit(FILE *out, const json_t *row, const char *key, const char *sign)
{
    char text[FIGURE_MAX];

    if (json_is_number(json_object_get(row, key)))
        fprintf(out, " <span class=\"nowrap\">%s %s</span>", sign,
                figure(json_double(row, key), text));
}

/* Whether the row reached its targets, and which they are. */
static void print_reached(FILE *out, const json_t *row)
{
    const json_t *reached = json_object_get(row, "reached");

    fputs("<td>", out);
    if (json_is_boolean(reached)) {
        fprintf(out, "<b class=\"%s\">", json_is_true(reached) ? "good" : "bad");
        if (json_is_true(reached))
            say(out, REACHED);
        else
            say(out, MISSED);
        fputs("</b>", out);
    }
    print_limit(out, row, "target_ratio", "≥");
    print_limit(out, row, "target_p99_ms", "p99 ≤");
    print_limit(out, row, "target", json_is_true(json_object_get(row, "at_most")) ? "≤" : "≥");
    fputs("</td></tr>\n", out);
}

static void print_bench_row(FILE *out, const json_t *row)
{
    const json_t *value = json_object_get(row, "value");
    bool is_claim = *json_text(row, "claim") != '\0';
    char a[FIGURE_MAX], b[FIGURE_MAX];

    fputs("<tr><th scope=\"row\"><code>", out);
    page_text(out, json_text(row, is_claim ? "claim" : "order_path"));
    fputs("</code>", out);
    if (!is_claim) {
        fputs(" <code>", out);
        page_text(out, json_text(row, "lock"));
        fputs("</code> ", out);
        say(out, CLIENTS, figure_whole(json_whole(row, "clients"), a));
        if (json_whole(row, "pgbench_orders") > 1)
            say_in(out, "span class=\"s\"", BENCH_BATCH,
                   figure_whole(json_whole(row, "pgbench_orders"), a));
    } else if (*json_text(row, "text")) {
        fputs("<span class=\"s\">", out);
        page_phrase(out, "span", json_text(row, "text"));
        fputs("</span>", out);
    }
    fputs("</th>", out);
    if (is_claim) {
        fputs("<td class=\"number\">–</td><td class=\"number\">–</td>", out);
    } else {
        number(out, json_double(row, "http_per_s"));
        number(out, json_double(row, "p99_ms"));
    }
    number(out, is_claim ? json_double(value, "median") : json_double(row, "ratio"));
    fprintf(out, "<td class=\"number\">%s – %s</td>",
            figure(is_claim ? json_double(value, "min") : json_double(row, "ratio_min"), a),
            figure(is_claim ? json_double(value, "max") : json_double(row, "ratio_max"), b));
    print_reached(out, row);
}

static void print_bench(FILE *out, const json_t *rows)
{
    const json_t *row;
    size_t i;

    if (json_array_size(rows) == 0)
        return;
    begin(out, "bench", WORD_MEASURED);
    say_head(out, WORD_MEASURED, false);
    say_head(out, WORD_SPEED, true);
    head_share(out, "99");
    say_head(out, WORD_BENCH_RATIO, true);
    say_head(out, WORD_RANGE, true);
    say_head(out, WORD_TARGET, false);
    fputs("</tr></thead>\n<tbody>\n", out);
    json_array_foreach(rows, i, row)
    {
        print_bench_row(out, row);
    }
    fputs("</tbody></table></div></section>\n", out);
}

/* A row of a part of bench-locks: whatever it has, by name. */
static void print_fields(FILE *out, const json_t *row)
{
    const json_t *value;
    const char *name;
    char a[FIGURE_MAX], b[FIGURE_MAX], c[FIGURE_MAX];

    json_object_foreach((json_t *)row, name, value)
    {
        if (json_is_array(value) || strcmp(name, "lock") == 0)
            continue;
        fputs(" <span class=\"nowrap\"><code>", out);
        page_text(out, name);
        fputs("</code> ", out);
        if (json_is_object(value))
            fprintf(out, "%s (%s – %s)", figure(json_double(value, "median"), a),
                    figure(json_double(value, "min"), b), figure(json_double(value, "max"), c));
        else if (json_is_integer(value))
            fputs(figure_whole(json_integer_value(value), a), out);
        else if (json_is_number(value))
            fputs(figure(json_number_value(value), a), out);
        else if (json_is_boolean(value))
            fputs(json_is_true(value) ? "✓" : "✗", out);
        else if (json_is_string(value)) {
            fputs("<code>", out);
            page_text(out, json_string_value(value));
            fputs("</code>", out);
        }
        fputs("</span>;", out);
    }
}

static void print_part(FILE *out, const char *part, const json_t *rows)
{
    const json_t *row;
    size_t i;

    json_array_foreach(rows, i, row)
    {
        if (!json_is_object(row))
            continue;
        fputs("<tr><th scope=\"row\"><code>", out);
        page_text(out, part);
        fputs(" ", out);
        page_text(out, json_text(row, "lock"));
        fputs("</code></th><td>", out);
        print_fields(out, row);
        fputs("</td></tr>\n", out);
    }
}

static void print_bench_locks(FILE *out, const json_t *parts)
{
    const json_t *part, *inner;
    const char *name, *inner_name;

    if (json_object_size(parts) == 0)
        return;
    begin(out, "bench", WORD_MEASURED);
    say_head(out, WORD_LOCK, false);
    say_head(out, WORD_MEASURED, false);
    fputs("</tr></thead>\n<tbody>\n", out);
    json_object_foreach((json_t *)parts, name, part)
    {
        print_part(out, name, part);
        json_object_foreach((json_t *)part, inner_name, inner)
        {
            print_part(out, inner_name, inner);
        }
    }
    fputs("</tbody></table></div></section>\n", out);
}

/* ---- scenarios and the matrix: a row for each scenario, its locks by their outcomes ---- */

static bool is_same_row(const struct view_cell *a, const struct view_cell *b)
{
    return strcmp(a->group, b->group) == 0 && strcmp(a->column, b->column) == 0;
}

static bool is_first(const struct view *view, size_t at, bool by_outcome)
{
    const struct view_cell *cell = &view->cells[at];

    for (size_t i = 0; i < at; i++)
        if (is_same_row(&view->cells[i], cell) &&
            (!by_outcome || (strcmp(view->cells[i].outcome, cell->outcome) == 0 &&
                             view->cells[i].mark == cell->mark)))
            return false;
    return true;
}

static void print_locks(FILE *out, const struct view *view, const struct view_cell *like)
{
    bool is_sound = like->mark == CELL_MARK_SOUND;

    fprintf(out, "<li><b class=\"%s\">%s ", is_sound ? "good" : "bad",
            is_sound ? "✓" : like->is_unexpected ? "✗" : "?");
    page_phrase(out, "span", *like->outcome ? like->outcome : "-");
    if (like->is_unexpected) {
        fputs(" ", out);
        say(out, UNEXPECTED);
    } else if (!is_sound) {
        fputs(" ", out);
        part_mark(out, like);
    }
    fputs("</b>:", out);
    for (size_t i = 0; i < view->count; i++) {
        const struct view_cell *cell = &view->cells[i];

        if (!is_same_row(cell, like) || strcmp(cell->outcome, like->outcome) != 0 ||
            cell->mark != like->mark)
            continue;
        fputs(" <code>", out);
        page_text(out, cell->row);
        fputs("</code>", out);
    }
    fputs("</li>", out);
}

static void print_performed(FILE *out, const struct view *view)
{
    begin(out, "performed", WORD_RESULTS);
    say_head(out, WORD_SCENARIO, false);
    say_head(out, WORD_GOT, false);
    fputs("</tr></thead>\n<tbody>\n", out);
    for (size_t i = 0; i < view->count; i++) {
        if (!is_first(view, i, false))
            continue;
        fputs("<tr><th scope=\"row\"><code>", out);
        page_text(out, view->cells[i].group);
        fputs("</code>", out);
        if (*view->cells[i].column) {
            fputs(" <code class=\"soft\">+", out);
            page_text(out, view->cells[i].column);
            fputs("</code>", out);
        }
        fputs("</th><td><ul class=\"plain\">", out);
        for (size_t j = i; j < view->count; j++)
            if (is_same_row(&view->cells[i], &view->cells[j]) && is_first(view, j, true))
                print_locks(out, view, &view->cells[j]);
        fputs("</ul></td></tr>\n", out);
    }
    fputs("</tbody></table></div></section>\n", out);
}

void part_lists(FILE *out, const struct run_data *data, const struct view *view)
{
    const json_t *results = json_object_get(data->json, "results");

    print_rates(out, json_object_get(results, "rate"));
    print_bench(out, json_object_get(results, "bench"));
    print_bench_locks(out, json_object_get(results, "bench_locks"));
    if (view->count > 0 &&
        (strcmp(view->kind, "matrix") == 0 || strcmp(view->kind, "scenario") == 0))
        print_performed(out, view);
}
