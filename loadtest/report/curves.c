/* SPDX-License-Identifier: MIT */
/* curves.c -- latency by the share of orders, on an axis of nines: p90, p99, p99.9, ... */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "loadtest/page/scene.h"
#include "loadtest/report/parts.h"
#include "loadtest/report/view.h"

enum {
    CURVES_MAX = 6,
    POINTS_MAX = 64,
    WIDTH = 800, HEIGHT = 330, LEFT = 112, RIGHT = 30, TOP = 14, BOTTOM = 44,
};

struct curve {
    const char *name;        /* of a lock; NULL: `word` names it                      */
    enum word word;
    int64_t answers;
    double nines[POINTS_MAX], ms[POINTS_MAX];
    int count;
};

struct chart {
    struct curve curves[CURVES_MAX];
    int count, more; /* more: curves that are left out                               */
    double nines, low, high; /* the ends of the axes; low and high are powers of ten  */
};

static void add_point(struct curve *curve, double nines, double ms)
{
    if (curve->count == POINTS_MAX || !(ms > 0) || !(nines >= 0) || nines > 9)
        return;
    curve->nines[curve->count] = nines;
    curve->ms[curve->count++] = ms;
}

/* From the points that were kept, or from the percentiles of a run that kept no more. */
static void read_curve(struct curve *curve, const json_t *latency)
{
    static const struct {
        const char *key;
        double nines;
    } keys[] = {{"p50_ms", 0.301}, {"p90_ms", 1}, {"p99_ms", 2}, {"p99.9_ms", 3}, {"p99.99_ms", 4}};
    const json_t *points = json_object_get(latency, "curve"), *point;
    size_t i;

    curve->answers = json_whole(latency, "count");
    json_array_foreach(points, i, point)
    {
        add_point(curve, json_number_value(json_array_get(point, 0)),
                  json_number_value(json_array_get(point, 1)));
    }
    for (i = 0; json_array_size(points) == 0 && i < sizeof keys / sizeof keys[0]; i++)
        if (pow(10, -keys[i].nines) * (double)curve->answers >= 1)
            add_point(curve, keys[i].nines, json_double(latency, keys[i].key));
}

static void add_curve(struct chart *chart, const char *name, enum word word,
                      const json_t *latency)
{
    struct curve *curve = &chart->curves[chart->count];

    if (!json_is_object(latency))
        return;
    if (chart->count == CURVES_MAX) {
        chart->more++;
        return;
    }
    *curve = (struct curve){.name = name, .word = word};
    read_curve(curve, latency);
    chart->count += curve->count > 1;
}

static int by_speed(const void *a, const void *b)
{
    double x = values_median(&(*(const struct view_cell *const *)a)->speed);
    double y = values_median(&(*(const struct view_cell *const *)b)->speed);

    return (x < y) - (x > y);
}

/* Of the first experiment, without a fault: the sound locks. */
static void choose_locks(struct chart *chart, const struct run_data *data, const struct view *view)
{
    const struct view_cell **sound = calloc(view->count + 1, sizeof(const struct view_cell *));
    size_t count = 0;

    if (!sound)
        abort();
    for (size_t i = 0; i < view->count; i++)
        if (view->cells[i].mark == CELL_MARK_SOUND && *view->cells[i].dir &&
            strcmp(view->cells[i].group, view->cells[0].group) == 0 &&
            strcmp(view->cells[i].column, view->cells[0].column) == 0)
            sound[count++] = &view->cells[i];
    qsort(sound, count, sizeof(const struct view_cell *), by_speed);
    for (size_t i = 0; i < count; i++)
        add_curve(chart, sound[i]->row, WORD_LOCK,
                  json_object_get(json_object_get(view_sale(data, sound[i]->dir), "load"),
                                  "latency_accepted"));
    free(sound);
}

static void choose_answers(struct chart *chart, const struct run_data *data)
{
    const json_t *load = json_object_get(view_sale(data, "."), "load"), *step;
    size_t i;

    add_curve(chart, NULL, WORD_ACCEPTED, json_object_get(load, "latency_accepted"));
    add_curve(chart, NULL, WORD_OTHERS, json_object_get(load, "latency_others"));
    json_array_foreach(json_object_get(load, "steps"), i, step)
    {
        if (json_is_true(json_object_get(step, "ramp")))
            continue;
        add_curve(chart, NULL, WORD_RATE, json_object_get(step, "latency"));
        if (chart->count > 0 && chart->curves[chart->count - 1].word == WORD_RATE &&
            chart->more == 0)
            chart->curves[chart->count - 1].answers = json_whole(step, "rate");
    }
}

/* ---- drawing ---- */

static double x_of(const struct chart *chart, double nines)
{
    return (double)LEFT + (double)(WIDTH - LEFT - RIGHT) * nines / chart->nines;
}

static double y_of(const struct chart *chart, double ms)
{
    double share = log10(ms / chart->low) / log10(chart->high / chart->low);

    return HEIGHT - BOTTOM - (HEIGHT - TOP - BOTTOM) * share;
}

static void choose_axes(struct chart *chart)
{
    double least = INFINITY, most = 0;

    chart->nines = 1;
    for (int i = 0; i < chart->count; i++) {
        const struct curve *curve = &chart->curves[i];

        chart->nines = fmax(chart->nines, ceil(curve->nines[curve->count - 1] - 0.01));
        for (int p = 0; p < curve->count; p++) {
            least = fmin(least, curve->ms[p]);
            most = fmax(most, curve->ms[p]);
        }
    }
    chart->low = pow(10, floor(log10(fmax(least, 1e-3))));
    chart->high = pow(10, ceil(log10(fmin(most, 1e9))));
    if (chart->high <= chart->low)
        chart->high = chart->low * 10;
}

static void draw_axes(FILE *out, const struct chart *chart)
{
    char text[FIGURE_MAX];

    for (double ms = chart->low; ms <= chart->high * 1.01; ms *= 10) {
        fprintf(out, "<path class=\"grid\" d=\"M%d %.1fH%d\"/><text class=\"axis\" x=\"%d\" "
                     "y=\"%.1f\" text-anchor=\"end\">",
                LEFT, y_of(chart, ms), WIDTH - RIGHT, LEFT - 8, y_of(chart, ms) + 6);
        snprintf(text, sizeof text, "%g", ms);
        draw(out, MS, text);
        fputs("</text>\n", out);
    }
    for (int nines = 0; nines <= (int)chart->nines; nines++) {
        snprintf(text, sizeof text, nines > 2 ? "99.%.*s" : "%.*s", nines > 2 ? nines - 2 : 9,
                 nines > 2 ? "9999999" : nines == 2 ? "99" : nines == 1 ? "90" : "0");
        fprintf(out, "<path class=\"grid\" d=\"M%.1f %dV%d\"/><text class=\"axis\" x=\"%.1f\" "
                     "y=\"%d\" text-anchor=\"middle\">",
                x_of(chart, nines), TOP, HEIGHT - BOTTOM, x_of(chart, nines),
                HEIGHT - BOTTOM + 24);
        draw(out, AXIS_SHARE, text);
        fputs("</text>\n", out);
    }
    fprintf(out, "<path class=\"grid\" d=\"M%.1f %dV%d\"/><text class=\"axis\" x=\"%.1f\" y=\"%d\" "
                 "text-anchor=\"middle\">",
            x_of(chart, 0.301), TOP, HEIGHT - BOTTOM, x_of(chart, 0.301), HEIGHT - BOTTOM + 24);
    draw(out, AXIS_SHARE, "50");
    fputs("</text>\n", out);
}

static void draw_curve(FILE *out, const struct chart *chart, int i)
{
    const struct curve *curve = &chart->curves[i];

    fprintf(out, "<polyline class=\"curve c%d\" points=\"", i);
    for (int p = 0; p < curve->count; p++)
        fprintf(out, "%.1f,%.1f ", x_of(chart, fmin(curve->nines[p], chart->nines)),
                y_of(chart, fmin(fmax(curve->ms[p], chart->low), chart->high)));
    fputs("\"/>\n", out);
}

static void print_key(FILE *out, const struct chart *chart)
{
    char text[FIGURE_MAX];

    fputs("<ul class=\"key\">\n", out);
    for (int i = 0; i < chart->count; i++) {
        const struct curve *curve = &chart->curves[i];

        fprintf(out,
                "<li><svg viewBox=\"0 0 50 14\" aria-hidden=\"true\"><path class=\"curve c%d\" "
                "d=\"M0 7H50\"/></svg>",
                i);
        figure_whole(curve->answers, text);
        if (curve->name) {
            fputs("<code>", out);
            page_text(out, curve->name);
            fprintf(out, "</code>, n = %s", text);
        } else {
            say_words(out, curve->word, (const char *const[]){"", text});
        }
        fputs("</li>\n", out);
    }
    fputs("</ul>\n", out);
}

static void print_chart(FILE *out, struct chart *chart)
{
    char shown[FIGURE_MAX], all[FIGURE_MAX];

    choose_axes(chart);
    fprintf(
        out,
        "<figure><div class=\"drawing\"><svg class=\"chart\" viewBox=\"0 0 %d %d\" role=\"img\" "
        "aria-labelledby=\"latency-title\">\n",
        WIDTH, HEIGHT);
    draw_axes(out, chart);
    for (int i = 0; i < chart->count; i++)
        draw_curve(out, chart, i);
    fputs("</svg></div>\n", out);
    print_key(out, chart);
    if (chart->more > 0) {
        figure_whole(chart->count, shown);
        figure_whole(chart->count + chart->more, all);
        say_in(out, "p class=\"soft\"", FASTEST, shown, all);
    }
    fputs("</figure>\n<p class=\"soft\">", out);
    say(out, LATENCY_HOW);
    fputc(' ', out);
    say(out, LATENCY_WRK);
    fputs("</p>\n", out);
}

void part_latency(FILE *out, const struct run_data *data, const struct view *view)
{
    bool is_load = strcmp(view->kind, "load") == 0;
    struct chart *chart = calloc(1, sizeof *chart);

    if (!chart)
        abort();
    if (is_load)
        choose_answers(chart, data);
    else if (strcmp(view->kind, "compare") == 0)
        choose_locks(chart, data, view);
    if (chart->count > 0 || (is_load && view->count > 0)) {
        fputs("<section id=\"latency\">", out);
        say_in(out, "h2 id=\"latency-title\"", LATENCY);
        if (chart->count > 0) {
            print_chart(out, chart);
        } else {
            say_in(out, "p", NO_LATENCY);
        }
        fputs("</section>\n", out);
    }
    free(chart);
}
