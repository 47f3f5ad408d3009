/* SPDX-License-Identifier: MIT */
/* lines.c -- the progress of a comparison. */
#include "loadtest/compare/lines.h"

#include <inttypes.h>
#include <string.h>

#include "base/text/duration.h"
#include "loadtest/kit/json_lines.h"
#include "loadtest/sale/hazard_catalogue.h"

/* The outcomes so far of the runs under one lock. */
struct lock_lines {
    int planned, done, sound, broken, unknown, wrong;
    bool is_odd;      /* a run is not as expected                                     */
    double calm_per_s; /* of the last calm run; 0: none                                */
};

static void add_cell(struct lock_lines *sum, const struct cell *cell)
{
    sum->planned += cell->run_count;
    sum->is_odd = sum->is_odd || cell_outcome_of(cell) == CELL_UNEXPECTED;
    for (int i = 0; i < cell->run_count; i++) {
        const struct run_record *run = &cell->runs[i];

        sum->done += run->outcome != RUN_NOT_DONE;
        sum->sound += run->outcome == RUN_SOUND;
        sum->broken += run->outcome == RUN_BROKEN;
        sum->unknown += run->outcome == RUN_UNKNOWN;
        sum->wrong += run->outcome == RUN_WRONG;
        if (run->outcome != RUN_NOT_DONE && cell->hazard == &hazard_calm)
            sum->calm_per_s = run->orders_per_s;
    }
}

static size_t add_count(char *out, size_t used, int count, const char *word)
{
    if (count == 0 || used >= COMPARE_LINES_MAX)
        return used;
    return used + (size_t)snprintf(out + used, COMPARE_LINES_MAX - used, ", %d %s", count, word);
}

/* "none          3 of 12 runs, 3 broken, as expected so far, 180 orders a second when calm" */
static size_t add_lock(const struct comparison *c, size_t lock, char *out, size_t used)
{
    enum report_style style;
    struct lock_lines sum = {0};

    for (size_t e = 0; e < c->experiment_count; e++)
        for (size_t h = 0; h < c->hazard_count; h++)
            add_cell(&sum, comparison_cell(c, e, h, lock));
    if (sum.done == 0 || used >= COMPARE_LINES_MAX)
        return used;
    style = sum.is_odd ? STYLE_BAD : STYLE_GOOD;
    used += (size_t)snprintf(out + used, COMPARE_LINES_MAX - used, "%-13s %d of %d runs",
                             c->locks[lock], sum.done, sum.planned);
    used = add_count(out, used, sum.sound, "sound");
    used = add_count(out, used, sum.broken, "broken");
    used = add_count(out, used, sum.wrong, "wrong");
    used = add_count(out, used, sum.unknown, "unknown");
    if (used >= COMPARE_LINES_MAX)
        return used;
    used += (size_t)snprintf(out + used, COMPARE_LINES_MAX - used, ", %s%s%s so far",
                             report_style(stderr, style), sum.is_odd ? "UNEXPECTED" : "as expected",
                             report_style(stderr, STYLE_PLAIN));
    if (sum.calm_per_s > 0 && used < COMPARE_LINES_MAX)
        used += (size_t)snprintf(out + used, COMPARE_LINES_MAX - used,
                                 ", %.0f orders a second when calm", sum.calm_per_s);
    if (used < COMPARE_LINES_MAX)
        used += (size_t)snprintf(out + used, COMPARE_LINES_MAX - used, "\n");
    return used;
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
