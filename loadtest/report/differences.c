/* SPDX-License-Identifier: MIT */
/* differences.c -- two runs: what differs, and which differences are more than noise.
 *
 * A value that was measured n times in one run and m times in the other differs if the ranges of
 * the two lie apart, and if n and m are so large that ranges of the same thing would lie apart in
 * at most one of ten cases: of all orders of n + m values, two have the ranges apart.
 *
 * Of many values some lie apart by chance.  The runs are called different if so many values lie
 * apart that this would happen in at most one of ten comparisons of two runs of the same thing. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "loadtest/kit/memory.h"
#include "loadtest/page/scene.h"
#include "loadtest/page/words.h"
#include "loadtest/report/parts.h"

static const double chance_limit = 0.1;

enum judgement { IS_NOISE, IS_HIGHER, IS_LOWER, IS_TOO_FEW };

struct count {
    size_t verdicts, verdicts_differ, values, values_differ, values_few;
    double chance; /* of a value that is judged to lie apart: the largest            */
};

/* The share of all orders of the values in which the ranges of both lie apart. */
static double chance_apart(int n, int m)
{
    double orders = 1;

    for (int i = 1; i <= m; i++)
        orders = orders * (n + i) / i;
    return fmin(2 / orders, 1);
}

static enum judgement judge(const struct view_values *a, const struct view_values *b)
{
    bool is_apart = values_most(a) < values_least(b) || values_most(b) < values_least(a);

    if (a->count == 0 || b->count == 0 || chance_apart(a->count, b->count) > chance_limit + 1e-9)
        return IS_TOO_FEW;
    if (!is_apart)
        return IS_NOISE;
    return values_median(b) > values_median(a) ? IS_HIGHER : IS_LOWER;
}

/* The cell beside which `cell` is shown.  If both runs are a single sale, the two sales are
 * compared, whatever their settings. */
static const struct view_cell *partner(const struct view *view, const struct view_cell *cell,
                                       const struct view *other)
{
    if (strcmp(view->kind, "load") == 0 && strcmp(other->kind, "load") == 0)
        return other->count > 0 ? &other->cells[0] : NULL;
    return view_partner(view, cell, other);
}

static bool is_unsafe(const struct view_cell *cell)
{
    return cell->mark == CELL_MARK_BROKEN || cell->mark == CELL_MARK_WRONG;
}

static bool verdict_differs(const struct view_cell *a, const struct view_cell *b)
{
    return a->mark != b->mark || strcmp(a->outcome, b->outcome) != 0 ||
           a->is_unexpected != b->is_unexpected || a->is_unknown != b->is_unknown ||
           a->is_not_done != b->is_not_done || a->has_no_expectation != b->has_no_expectation;
}

/* ---- cells ---- */

static void print_range(FILE *out, const struct view_values *values, bool is_struck)
{
    char a[FIGURE_MAX], b[FIGURE_MAX], c[FIGURE_MAX];

    fprintf(out, "<td class=\"number\">%s", is_struck ? "<s>" : "");
    if (values->count > 0)
        fputs(figure(values_median(values), a), out);
    if (values->count > 1)
        fprintf(out, " (%s – %s)", figure(values_least(values), b), figure(values_most(values), c));
    fprintf(out, "%s</td>", is_struck ? "</s>" : "");
}

static void say_judged(FILE *out, enum judgement judged)
{
    switch (judged) {
    case IS_NOISE:
        say(out, D_NOISE);
        break;
    case IS_HIGHER:
        say(out, D_FASTER);
        break;
    case IS_LOWER:
        say(out, D_SLOWER);
        break;
    case IS_TOO_FEW:
        say(out, D_FEW);
        break;
    }
}

static void print_judged(FILE *out, const struct view_cell *a, const struct view_cell *b,
                         bool is_other_machine)
{
    enum judgement p99 = judge(&a->p99_ms, &b->p99_ms);

    if (verdict_differs(a, b)) {
        fputs("<b>", out);
        say(out, D_VERDICT_DIFFERS);
        fputs("</b>", out);
        return;
    }
    if (a->speed.count == 0 && b->speed.count == 0) {
        fputs("=", out);
    } else if (is_unsafe(a)) {
        say(out, D_UNSAFE);
    } else if (is_other_machine) {
        say(out, D_OTHER_MACHINE);
    } else {
        say_judged(out, judge(&a->speed, &b->speed));
        if (p99 == IS_HIGHER || p99 == IS_LOWER) {
            fputs("<span class=\"s\">p99 ", out);
            say_judged(out, p99);
            fputs("</span>", out);
        }
    }
}

static void print_mark(FILE *out, const struct view_cell *cell)
{
    bool has_mark = *cell->outcome == '\0' || cell->mark == CELL_MARK_NOT_DONE;

    fputs("<td>", out);
    if (*cell->outcome)
        page_phrase(out, "span", cell->outcome);
    if (*cell->outcome && has_mark)
        fputs(" ", out);
    if (has_mark && cell->mark == CELL_MARK_MEASURED)
        fputs("–", out);
    else if (has_mark)
        part_mark(out, cell);
    part_outcome(out, cell);
    fputs("</td>", out);
}

static void print_pair(FILE *out, const struct view_cell *a, const struct view_cell *b,
                       bool is_other_machine)
{
    double ratio =
        values_median(&a->speed) > 0 ? values_median(&b->speed) / values_median(&a->speed) : 0;
    char text[FIGURE_MAX];

    fputs("<tr><th scope=\"row\"><code>", out);
    page_text(out, *a->row ? a->row : "reentrant");
    if (strcmp(a->row, b->row) != 0) {
        fputs(" / ", out);
        page_text(out, *b->row ? b->row : "reentrant");
    }
    fputs("</code> <code class=\"soft\">", out);
    page_text(out, a->group);
    fputs(" ", out);
    page_text(out, a->column);
    if (a->clients > 0)
        fprintf(out, " × %s", figure_whole(a->clients, text));
    fputs("</code></th>", out);
    print_mark(out, a);
    print_mark(out, b);
    print_range(out, &a->speed, is_unsafe(a));
    print_range(out, &b->speed, is_unsafe(b));
    fprintf(out, "<td class=\"number\">%s</td>",
            ratio > 0 && !is_unsafe(a) && !is_unsafe(b) ? figure(ratio, text) : "–");
    print_range(out, &a->p99_ms, is_unsafe(a));
    print_range(out, &b->p99_ms, is_unsafe(b));
    fputs("<td>", out);
    print_judged(out, a, b, is_other_machine);
    fputs("</td></tr>\n", out);
}

static void count_value(struct count *count, const struct view_values *a,
                        const struct view_values *b)
{
    enum judgement judged = judge(a, b);

    if (a->count == 0 || b->count == 0)
        return;
    count->values++;
    count->values_few += judged == IS_TOO_FEW;
    if (judged != IS_TOO_FEW)
        count->chance = fmax(count->chance, chance_apart(a->count, b->count));
    count->values_differ += judged == IS_HIGHER || judged == IS_LOWER;
}

static struct count count_all(const struct view *a, const struct view *b)
{
    struct count count = {0};

    for (size_t i = 0; i < a->count; i++) {
        const struct view_cell *x = &a->cells[i], *y = partner(a, x, b);

        if (!y)
            continue;
        count.verdicts++;
        count.verdicts_differ += verdict_differs(x, y);
        if (is_unsafe(x) || is_unsafe(y))
            continue;
        count_value(&count, &x->speed, &y->speed);
        count_value(&count, &x->p99_ms, &y->p99_ms);
    }
    return count;
}

/* How many of the judged values may lie apart by chance: so many, or more, do in more than one of
 * ten comparisons. */
static size_t count_by_chance(const struct count *count)
{
    size_t judged = count->values - count->values_few, k = 0;
    double n = (double)judged, fewer = 0;

    for (; k < judged; k++) {
        double i = (double)k;

        fewer += exp(lgamma(n + 1) - lgamma(i + 1) - lgamma(n - i + 1) +
                     i * log(count->chance) + (n - i) * log1p(-count->chance));
        if (1 - fewer <= chance_limit + 1e-9)
            break;
    }
    return k;
}

static void print_verdict(FILE *out, const struct count *count, bool is_other_machine)
{
    char a[FIGURE_MAX], b[FIGURE_MAX];
    bool is_same = count->verdicts > 0 && count->verdicts_differ == 0 &&
                   (is_other_machine || count->values_differ <= count_by_chance(count));

    fprintf(out, "<p class=\"verdict %s\" role=\"status\" data-same=\"%s\">",
            is_same ? "" : "doubt", is_same ? "yes" : "no");
    if (count->verdicts == 0)
        say(out, TWO_NOTHING);
    else if (count->verdicts_differ > 0)
        say(out, TWO_VERDICTS, figure_whole((int64_t)count->verdicts_differ, a),
            figure_whole((int64_t)count->verdicts, b));
    else if (!is_same)
        say(out, TWO_SPEEDS, figure_whole((int64_t)count->values_differ, a),
            figure_whole((int64_t)count->values, b));
    else if (count->values > 0 && count->values_few == count->values)
        say(out, TWO_SAME_VERDICTS);
    else if (count->values_differ > 0 && !is_other_machine)
        say(out, TWO_SAME_CHANCE, figure_whole((int64_t)count->values_differ, a),
            figure_whole((int64_t)(count->values - count->values_few), b));
    else
        say(out, TWO_SAME);
    fputs("</p>\n", out);
}

static void print_only(FILE *out, const struct view *view, const struct view *other,
                       const char *name)
{
    char *text = NULL;
    size_t size = 0;
    FILE *list = memory_need(open_memstream(&text, &size));

    for (size_t i = 0; i < view->count; i++) {
        const struct view_cell *cell = &view->cells[i];

        if (!partner(view, cell, other))
            fprintf(list, "%s%s %s %s", ftell(list) > 0 ? ", " : "", cell->group, cell->column,
                    cell->row);
    }
    if (fclose(list) != 0)
        abort();
    if (*text)
        say_in(out, "p", D_ONLY, name, text);
    free(text);
}

static void print_table(FILE *out, const struct view *a, const struct view *b,
                        bool is_other_machine)
{
    static const enum word heads[] = {WORD_D_WHAT, WORD_RUN_A, WORD_RUN_B};

    fputs("<div class=\"wide\"><table><thead><tr>", out);
    for (size_t i = 0; i < 3; i++)
        say_head(out, heads[i], false);
    for (int i = 0; i < 5; i++) {
        fputs("<th scope=\"col\" class=\"number\">", out);
        if (i == 2)
            fputs("B / A", out);
        else if (i < 2)
            say(out, D_SPEED, i == 0 ? "A" : "B");
        else
            say(out, D_P99, i == 3 ? "A" : "B");
        fputs("</th>", out);
    }
    say_head(out, WORD_D_JUDGED, false);
    fputs("</tr></thead>\n<tbody>\n", out);
    for (size_t i = 0; i < a->count; i++) {
        const struct view_cell *other = partner(a, &a->cells[i], b);

        if (other)
            print_pair(out, &a->cells[i], other, is_other_machine);
    }
    fputs("</tbody></table></div>\n", out);
}

static void print_cells(FILE *out, const struct view *a, const struct view *b,
                        const struct count *count, bool is_other_machine)
{
    char x[FIGURE_MAX], y[FIGURE_MAX];

    say_section(out, "differences", WORD_DIFFERENCES);
    print_table(out, a, b, is_other_machine);
    print_only(out, a, b, "A");
    print_only(out, b, a, "B");
    fputs("<p class=\"soft\">", out);
    say(out, DIFFERENCES_HOW);
    if (count->values > count->values_few) {
        size_t judged = count->values - count->values_few;

        fputc(' ', out);
        say(out, D_CHANCE, figure_whole((int64_t)count_by_chance(count), x),
            figure_whole((int64_t)judged, y));
    }
    fputs("</p></section>\n", out);
}

static void print_which(FILE *out, const struct run_data *data, enum word name)
{
    fputs("<li>", out);
    say_words(out, name, (const char *const[]){""});
    fputs(": <bdi lang=\"en\" translate=\"no\">", out);
    page_text(out, data->dir);
    fputs(", ", out);
    page_text(out, json_text(data->json, "started"));
    fputs("</bdi></li>\n", out);
}

void part_differences(FILE *out, const struct run_data *a, const struct run_data *b,
                      const struct view *view_a, const struct view *view_b)
{
    char text[DATA_TEXT_MAX];
    bool is_other_machine = part_machines_differ(a, b, text);
    struct count count = count_all(view_a, view_b);

    if (is_other_machine) {
        fputs("<section class=\"problems\" role=\"note\"><p>", out);
        say(out, OTHER_MACHINE, text);
        fputs("</p></section>\n", out);
    }
    print_verdict(out, &count, is_other_machine);
    fputs("<ul class=\"plain\">\n", out);
    print_which(out, a, WORD_RUN_A);
    print_which(out, b, WORD_RUN_B);
    fputs("</ul>\n", out);
    part_problems(out, a, "A");
    part_problems(out, b, "B");
    if (strcmp(view_a->kind, view_b->kind) != 0)
        say_in(out, "p", OTHER_KIND, view_a->kind, view_b->kind);
    part_settings_differ(out, a, b);
    print_cells(out, view_a, view_b, &count, is_other_machine);
}
