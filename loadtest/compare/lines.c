/* SPDX-License-Identifier: MIT */
/* lines.c -- the progress of a comparison. */
#include "loadtest/compare/lines.h"

#include <inttypes.h>
#include <stdarg.h>
#include <string.h>

#include "base/text/duration.h"
#include "loadtest/kit/json_lines.h"
#include "loadtest/sale/hazard_catalogue.h"

/* The outcomes so far of the runs under one lock. */
struct lock_lines {
    int planned, of[RUN_OUTCOME_COUNT];
    bool is_odd;      /* a run is not as expected                                     */
    double calm_per_s; /* of the last calm run; 0: none                                */
};

static void add_cell(struct lock_lines *sum, const struct cell *cell)
{
    sum->planned += cell->run_count;
    cell_count_runs(cell, sum->of);
    sum->is_odd = sum->is_odd || cell_outcome_of(cell) == CELL_UNEXPECTED;
    for (int i = 0; i < cell->run_count; i++) {
        const struct run_record *run = &cell->runs[i];

        if (run->outcome != RUN_NOT_DONE && cell->hazard == &hazard_calm)
            sum->calm_per_s = run->orders_per_s;
    }
}

/* Append to the text, as far as it fits.  Answers the length that the whole text would have. */
__attribute__((format(printf, 3, 4))) static size_t append(char *out, size_t used,
                                                           const char *fmt, ...)
{
    va_list args;

    if (used >= COMPARE_LINES_MAX)
        return used;
    va_start(args, fmt);
    used += (size_t)vsnprintf(out + used, COMPARE_LINES_MAX - used, fmt, args);
    va_end(args);
    return used;
}

/* "none          3 of 12 runs, 3 broken, as expected so far, 180 orders a second when calm" */
static size_t add_lock(const struct comparison *c, size_t lock, char *out, size_t used)
{
    struct lock_lines sum = {0};
    int done;

    for (size_t e = 0; e < c->experiment_count; e++)
        for (size_t h = 0; h < c->hazard_count; h++)
            add_cell(&sum, comparison_cell(c, e, h, lock));
    done = sum.planned - sum.of[RUN_NOT_DONE];
    if (done == 0)
        return used;
    used = append(out, used, "%-13s %d of %d runs", c->locks[lock], done, sum.planned);
    for (enum run_outcome o = RUN_SOUND; o < RUN_OUTCOME_COUNT; o++)
        if (sum.of[o] > 0)
            used = append(out, used, ", %d %s", sum.of[o], run_outcome_name(o));
    used = append(out, used, ", %s%s%s so far",
                  report_style(stderr, sum.is_odd ? STYLE_BAD : STYLE_GOOD),
                  sum.is_odd ? "UNEXPECTED" : "as expected",
                  report_style(stderr, STYLE_PLAIN));
    if (sum.calm_per_s > 0)
        used = append(out, used, ", %.0f orders a second when calm", sum.calm_per_s);
    return append(out, used, "\n");
}

static int64_t left_ms(const struct progress *progress)
{
    return progress_left_ms(progress->done, progress->count,
                            (monotonic_ns() - progress->begin_ns) / 1000000);
}

void comparison_lines(const struct comparison *c, const struct progress *progress,
                      char above[COMPARE_LINE_MAX], char below[COMPARE_LINES_MAX])
{
    int64_t left = left_ms(progress);
    char rest[64] = "";
    size_t used = 0;

    if (left >= 0)
        snprintf(rest, sizeof rest, ", about %" PRId64 ":%02d min left", left / 60000,
                 (int)(left / 1000 % 60));
    snprintf(above, COMPARE_LINE_MAX, "%zu of %zu runs done%s\n", progress->done,
             progress->count, rest);
    below[0] = '\0';
    for (size_t lock = 0; lock < c->lock_count; lock++)
        used = add_lock(c, lock, below, used);
}

void comparison_tell_run(const struct comparison *c, const struct cell *cell, int repeat,
                         const struct progress *progress)
{
    int64_t left = left_ms(progress);
    json_t *json;

    if (!json_lines_are_on())
        return;
    json = compare_run_json(&cell->runs[repeat]);
    json_object_set_new(json, "run", json_string(c->title));
    json_object_set_new(json, "experiment", json_string(cell->experiment->name));
    json_object_set_new(json, "hazard", json_string(cell->hazard->name));
    json_object_set_new(json, "lock", json_string(cell->lock));
    json_object_set_new(json, "repeat", json_integer(repeat + 1));
    json_object_set_new(json, "expected", json_string(expectation_name(cell->expected)));
    json_object_set_new(json, "done", json_integer((json_int_t)progress->done));
    json_object_set_new(json, "planned", json_integer((json_int_t)progress->count));
    json_object_set_new(json, "left_ms", left < 0 ? json_null() : json_integer(left));
    json_lines_write("run", json);
}
