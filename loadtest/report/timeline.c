/* SPDX-License-Identifier: MIT */
/* timeline.c -- orders over the time of a sale, with the fault and the stock that was issued. */
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "loadtest/page/scene.h"
#include "loadtest/report/parts.h"
#include "loadtest/report/view.h"

/* ---- the hatching of a time without an answer ---- */

/* hatch_begin(), hatch_area() for each area, hatch_end(); nothing else is printed between them.
 *
 * Threads     Any; nothing here is shared. */

/* A pattern of SVG would be shorter.  Chromium prints each area that a turned pattern fills as a
 * picture of its own, and the report of one load became 7 MB of PDF. */

/* The part of a drawing in which the areas are, in the drawing's units. */
struct hatch_box {
    int left, top, right, bottom;
    bool is_crossed; /* lines in two directions                                        */
};

enum { DISTANCE = 12 }; /* of two lines, along the horizontal axis */

/* Begin the areas that are called `name`, which no other hatch of the page is called and which
 * an attribute can hold as it is. */
static void hatch_begin(FILE *out, const char *name)
{
    fprintf(out, "<clipPath id=\"%s\"><path d=\"", name);
}

/* Add an area. */
static void hatch_area(FILE *out, double x, double y, double width, double height)
{
    fprintf(out, "M%.1f %.1fh%.1fv%.1fh%.1fz", x, y, width, height, -width);
}

/* Draw the lines of all areas, with the style of `class`. */
static void hatch_end(FILE *out, const char *name, const char *class, const struct hatch_box *box)
{
    int height = box->bottom - box->top;

    fprintf(out, "\"/></clipPath><path class=\"%s\" clip-path=\"url(#%s)\" d=\"", class, name);
    for (int x = box->left - height; x < box->right; x += DISTANCE)
        fprintf(out, "M%d %dl%d %d", x, box->bottom, height, -height);
    for (int x = box->left - height; box->is_crossed && x < box->right; x += DISTANCE)
        fprintf(out, "M%d %dl%d %d", x, box->top, height, height);
    fputs("\"/>\n", out);
}

enum {
    SALES_MAX = 6, /* of a comparison */
    NAME_MAX_BYTES = 32,
    STEPS_MAX = 400,
    WIDTH = 800, HEIGHT = 300, LEFT = 70, RIGHT = 70, TOP = 34, BOTTOM = 44,
};

/* No load of a run lasts as long as this, in milliseconds. */
static const double TIME_MAX = 1e10;

static const struct hatch_box plot = {.left = LEFT, .top = TOP, .right = WIDTH - RIGHT,
                                      .bottom = HEIGHT - BOTTOM};

/* The figures of a sale that are drawn; times in milliseconds from the beginning of the load. */
struct sale_view {
    double orders[STEPS_MAX], step_ms, most, total, end_ms;
    int count;
    double stock, sold_out_ms, fault_from_ms, fault_to_ms; /* below 0: not known */
    const char *hazard;
    int number; /* of the drawing on the page                                          */
};

static double time_of(const json_t *times, const char *key)
{
    const json_t *value = json_object_get(times, key);

    double ms = json_is_number(value) ? json_number_value(value) : -1;

    return ms < TIME_MAX ? ms : -1;
}

/* False: the run kept no times. */
static bool read_sale(struct sale_view *view, const json_t *sale)
{
    const json_t *over_time = json_object_get(sale, "orders"), *count;
    const json_t *run = json_object_get(sale, "run"), *times = json_object_get(run, "times");
    size_t i;

    *view = (struct sale_view){.hazard = json_text(run, "hazard"),
                               .step_ms = json_double(over_time, "step_ms"),
                               .stock = json_double(json_object_get(sale, "verdict"), "issued"),
                               .sold_out_ms = time_of(times, "sold_out_ms"),
                               .fault_from_ms = time_of(times, "fault_from_ms"),
                               .fault_to_ms = time_of(times, "fault_to_ms")};
    json_array_foreach(json_object_get(over_time, "orders"), i, count)
    {
        if (i == STEPS_MAX || !(json_number_value(count) >= 0))
            break;
        view->orders[view->count++] = json_number_value(count);
        view->total += json_number_value(count);
        view->most = fmax(view->most, json_number_value(count));
    }
    view->end_ms = fmax(view->count * view->step_ms, fmin(view->fault_to_ms, 1e7));
    return view->count > 0 && view->step_ms >= 1 && view->step_ms <= 1e7 && view->most > 0 &&
           view->total < 1e12;
}

static double x_of(const struct sale_view *view, double ms)
{
    return (double)LEFT +
           (double)(WIDTH - LEFT - RIGHT) * fmin(fmax(ms, 0), view->end_ms) / view->end_ms;
}

static double y_of(double value, double most)
{
    return HEIGHT - BOTTOM - (HEIGHT - TOP - BOTTOM) * fmin(value / most, 1);
}

/* The upper end of the right axis, which is for the sum of the orders. */
static double most_of_sum(const struct sale_view *view)
{
    return view->stock > 0 && view->stock < 4 * view->total ? fmax(view->total, view->stock)
                                                            : view->total;
}

static void draw_fault(FILE *out, const struct sale_view *view)
{
    double from = view->fault_from_ms,
           to = view->fault_to_ms < 0 ? view->end_ms : view->fault_to_ms;
    char name[NAME_MAX_BYTES];

    if (from < 0 || from >= view->end_ms)
        return;
    snprintf(name, sizeof name, "fault-%d", view->number);
    hatch_begin(out, name);
    hatch_area(out, x_of(view, from), TOP, fmax(x_of(view, to) - x_of(view, from), 1),
               HEIGHT - TOP - BOTTOM);
    hatch_end(out, name, "band", &plot);
    fprintf(out, "<text x=\"%.1f\" y=\"%d\"%s>", x_of(view, from), TOP - 12,
            x_of(view, from) > WIDTH / 2 ? " text-anchor=\"end\"" : "");
    draw(out, FAULT_BAND, view->hazard);
    fputs("</text>\n", out);
}

/* A bar that begins below the stock and ends above it counts as beyond the stock. */
static bool is_over(const struct sale_view *view, double sum)
{
    return view->stock > 0 && sum > view->stock;
}

static void bar_of(const struct sale_view *view, int i, double *x, double *y, double *width)
{
    *x = x_of(view, i * view->step_ms);
    *y = y_of(view->orders[i], view->most);
    *width = fmax(x_of(view, (i + 1) * view->step_ms) - *x - 0.6, 0.6);
}

static void draw_bars(FILE *out, const struct sale_view *view)
{
    double sum = 0, x, y, width;

    for (int i = 0; i < view->count; i++) {
        sum += view->orders[i];
        bar_of(view, i, &x, &y, &width);
        if (view->orders[i] > 0)
            fprintf(out,
                    "<rect class=\"%s\" x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"%.1f\"/>",
                    is_over(view, sum) ? "over" : "bar", x, y, width, HEIGHT - BOTTOM - y);
    }
    fputc('\n', out);
}

/* Lines over the bars beyond the stock, if there are any. */
static void hatch_bars(FILE *out, const struct sale_view *view)
{
    struct hatch_box crossed = plot;
    double sum = 0, x, y, width;
    char name[NAME_MAX_BYTES];

    if (!is_over(view, view->total))
        return;
    crossed.is_crossed = true;
    snprintf(name, sizeof name, "over-%d", view->number);
    hatch_begin(out, name);
    for (int i = 0; i < view->count; i++) {
        sum += view->orders[i];
        bar_of(view, i, &x, &y, &width);
        if (view->orders[i] > 0 && is_over(view, sum))
            hatch_area(out, x, y, width, HEIGHT - BOTTOM - y);
    }
    hatch_end(out, name, "lines", &crossed);
}

static void draw_sum(FILE *out, const struct sale_view *view)
{
    double most = most_of_sum(view), sum = 0;
    char text[FIGURE_MAX];

    fprintf(out, "<polyline class=\"total\" points=\"%.1f,%.1f ", x_of(view, 0), y_of(0, most));
    for (int i = 0; i < view->count; i++) {
        sum += view->orders[i];
        fprintf(out, "%.1f,%.1f ", x_of(view, (i + 1) * view->step_ms), y_of(sum, most));
    }
    fprintf(out, "\"/>\n<text x=\"%d\" y=\"%.1f\">%s</text>\n", WIDTH - RIGHT + 6,
            y_of(sum, most) + 6, figure_whole((int64_t)sum, text));
    if (view->stock <= 0 || view->stock > most)
        return;
    fprintf(out, "<path class=\"stock\" d=\"M%d %.1fH%d\"/>", LEFT, y_of(view->stock, most),
            WIDTH - RIGHT);
    if (fabs(y_of(view->stock, most) - y_of(sum, most)) > 20)
        fprintf(out, "<text x=\"%d\" y=\"%.1f\">%s</text>", WIDTH - RIGHT + 6,
                y_of(view->stock, most) + 6, figure_whole((int64_t)view->stock, text));
    fputc('\n', out);
}

static void draw_axes(FILE *out, const struct sale_view *view)
{
    char text[FIGURE_MAX];
    double step = pow(10, floor(log10(view->end_ms)));

    step = view->end_ms / step < 2 ? step / 5 : view->end_ms / step < 5 ? step / 2 : step;
    for (double ms = 0; ms <= view->end_ms * 1.001; ms += step) {
        fprintf(out, "<path class=\"edge\" d=\"M%.1f %dv6\"/><text class=\"axis\" x=\"%.1f\" "
                     "y=\"%d\" text-anchor=\"middle\">%s</text>\n",
                x_of(view, ms), HEIGHT - BOTTOM, x_of(view, ms), HEIGHT - BOTTOM + 26,
                figure_whole((int64_t)llround(ms), text));
    }
    fprintf(out, "<path class=\"edge\" d=\"M%d %dH%d\"/><text class=\"axis\" x=\"%d\" y=\"%d\" "
                 "text-anchor=\"end\">%s</text><text class=\"axis\" x=\"%d\" y=\"%d\">",
            LEFT, HEIGHT - BOTTOM, WIDTH - RIGHT, LEFT - 8, TOP + 6,
            figure_whole((int64_t)view->most, text), WIDTH - RIGHT + 36, HEIGHT - BOTTOM + 26);
    draw(out, AXIS_MS);
    fputs("</text>\n", out);
    if (view->sold_out_ms > 0 && view->sold_out_ms <= view->end_ms)
        fprintf(out, "<path class=\"mark\" d=\"M%.1f %dV%d\"/>\n", x_of(view, view->sold_out_ms),
                TOP, HEIGHT - BOTTOM);
}

/* `cell` names the sale where there are several. */
static void print_sale(FILE *out, const struct sale_view *view, const struct view_cell *cell,
                       bool is_one)
{
    char text[FIGURE_MAX];

    fputs("<figure><figcaption>", out);
    if (!is_one) {
        fputs("<code>", out);
        page_text(out, cell->row);
        fputs(" ", out);
        page_text(out, cell->column);
        fputs("</code>: ", out);
        part_mark(out, cell);
    }
    fprintf(
        out,
        "</figcaption><div class=\"drawing\"><svg class=\"chart\" viewBox=\"0 0 %d %d\" "
        "role=\"img\" aria-labelledby=\"timeline-title\">\n",
        WIDTH, HEIGHT);
    draw_fault(out, view);
    draw_bars(out, view);
    hatch_bars(out, view);
    draw_axes(out, view);
    draw_sum(out, view);
    fputs("</svg></div>\n<p class=\"soft\">", out);
    say(out, TIMELINE_HOW, figure_whole((int64_t)view->step_ms, text));
    if (view->sold_out_ms > 0) {
        fputs(" ┊ ", out);
        say(out, SOLD_OUT_AT, figure_whole((int64_t)view->sold_out_ms, text));
    }
    fputs("</p></figure>\n", out);
}

/* The sales that broke come first, then those with a fault. */
static int worth(const struct run_data *data, const struct view_cell *cell)
{
    const json_t *run = json_object_get(view_sale(data, cell->dir), "run");

    return cell->mark == CELL_MARK_BROKEN || cell->mark == CELL_MARK_WRONG       ? 2
           : time_of(json_object_get(run, "times"), "fault_from_ms") >= 0 ? 1
                                                                          : 0;
}

static int print_some(FILE *out, const struct run_data *data, const struct view *view, bool is_one)
{
    struct sale_view *sale = calloc(1, sizeof *sale);
    int drawn = 0;

    if (!sale)
        abort();
    for (int wanted = 2; wanted >= 0; wanted--)
        for (size_t i = 0; i < view->count && drawn < SALES_MAX; i++) {
            const struct view_cell *cell = &view->cells[i];

            if (*cell->dir && worth(data, cell) == wanted &&
                read_sale(sale, view_sale(data, cell->dir))) {
                sale->number = drawn++;
                print_sale(out, sale, cell, is_one);
            }
        }
    free(sale);
    return drawn;
}

void part_timeline(FILE *out, const struct run_data *data, const struct view *view)
{
    bool is_one = strcmp(view->kind, "load") == 0;
    char a[FIGURE_MAX], b[FIGURE_MAX];
    int drawn;

    if (view->count == 0 || (!is_one && strcmp(view->kind, "compare") != 0))
        return;
    fputs("<section id=\"timeline\"><h2 id=\"timeline-title\">", out);
    say(out, TIMELINE);
    fputs("</h2>\n<div class=\"charts\">\n", out);
    drawn = print_some(out, data, view, is_one);
    fputs("</div>\n<p class=\"soft\">", out);
    if (drawn == 0)
        say(out, NO_TIMELINE);
    else if (!is_one)
        say(out, DRAWN, figure_whole(drawn, a), figure_whole((int64_t)view->count, b));
    fputs("</p></section>\n", out);
}
