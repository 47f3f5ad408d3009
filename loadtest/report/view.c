/* SPDX-License-Identifier: MIT */
/* view.c -- cells from the data of each kind of run. */
#include "loadtest/report/view.h"

#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "loadtest/kit/memory.h"
#include "loadtest/report/data.h"

static int compare_values(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;

    return (x > y) - (x < y);
}

/* Add a value; one that is not above 0, or that has no room, is passed over. */
static void values_add(struct view_values *values, double value)
{
    if (values->count == VIEW_VALUES_MAX || !(value > 0))
        return;
    values->at[values->count++] = value;
    qsort(values->at, (size_t)values->count, sizeof values->at[0], compare_values);
}

double values_median(const struct view_values *values)
{
    int n = values->count;

    return n == 0 ? 0 : n % 2 ? values->at[n / 2] : (values->at[n / 2 - 1] + values->at[n / 2]) / 2;
}

double values_least(const struct view_values *values)
{
    return values->count ? values->at[0] : 0;
}

double values_most(const struct view_values *values)
{
    return values->count ? values->at[values->count - 1] : 0;
}

/* A new cell at the end, with "" for its names; earlier pointers to cells end. */
static struct view_cell *view_add(struct view *view)
{
    struct view_cell *cell;

    view->cells = memory_need(realloc(view->cells, (view->count + 1) * sizeof *view->cells));
    cell = &view->cells[view->count++];
    *cell = (struct view_cell){.group = "", .column = "", .row = "", .outcome = "", .dir = ""};
    return cell;
}

void view_free(struct view *view)
{
    free(view->cells);
    *view = (struct view){0};
}

size_t view_count(const struct view *view, enum cell_mark mark)
{
    size_t n = 0;

    for (size_t i = 0; i < view->count; i++)
        n += view->cells[i].mark == mark;
    return n;
}

size_t view_unexpected(const struct view *view)
{
    size_t n = 0;

    for (size_t i = 0; i < view->count; i++)
        n += view->cells[i].is_unexpected;
    return n;
}

static bool is_of_one_lock(const struct view *view)
{
    for (size_t i = 1; i < view->count; i++)
        if (strcmp(view->cells[i].row, view->cells[0].row) != 0)
            return false;
    return true;
}

const struct view_cell *view_partner(const struct view *view, const struct view_cell *cell,
                                     const struct view *other)
{
    bool may_differ = is_of_one_lock(view) && is_of_one_lock(other);

    for (size_t i = 0; i < other->count; i++) {
        const struct view_cell *found = &other->cells[i];

        if (strcmp(found->group, cell->group) == 0 && strcmp(found->column, cell->column) == 0 &&
            found->clients == cell->clients && (may_differ || strcmp(found->row, cell->row) == 0))
            return found;
    }
    return NULL;
}

/* ---- the measurements ---- */

static enum cell_mark mark_of_target(const json_t *reached)
{
    return json_is_true(reached)    ? CELL_MARK_SOUND
           : json_is_false(reached) ? CELL_MARK_WRONG
                                    : CELL_MARK_MEASURED;
}

/* The rows of bench.json, and the parts of bench-locks.json. */
static void view_bench(struct view *view, const json_t *rows)
{
    const json_t *row;
    size_t i;

    json_array_foreach(rows, i, row)
    {
        const json_t *reached = json_object_get(row, "reached");
        struct view_cell *cell;

        if (json_whole(row, "pgbench_orders") > 1) /* it has the orders of the row before it */
            continue;
        cell = view_add(view);
        cell->group = json_text(row, "order_path");
        cell->column = json_text(row, "claim");
        cell->row = json_text(row, "lock");
        cell->clients = json_whole(row, "clients");
        cell->mark = mark_of_target(reached);
        values_add(&cell->speed, json_double(row, "http_per_s"));
        values_add(&cell->p99_ms, json_double(row, "p99_ms"));
    }
}

/* The least, the median and the most of `rounds` values are all that is kept of the values, and
 * all that a comparison asks for. */
static void read_spread(struct view_values *values, const json_t *spread, int64_t rounds)
{
    double median = json_double(spread, "median");

    if (rounds > VIEW_VALUES_MAX)
        rounds = VIEW_VALUES_MAX;
    if (rounds >= 2)
        values_add(values, json_double(spread, "min"));
    for (int64_t i = 2; i < rounds; i++)
        values_add(values, median);
    values_add(values, rounds >= 2 ? json_double(spread, "max") : median);
}

/* The first figure of the row that is a speed, such as "lock_per_s". */
static const json_t *speed_of(const json_t *row)
{
    static const char ending[] = "_per_s";
    const json_t *value;
    const char *name;

    json_object_foreach((json_t *)row, name, value)
    {
        size_t length = strlen(name);

        if (json_is_object(value) && length >= sizeof ending &&
            strcmp(name + length - (sizeof ending - 1), ending) == 0)
            return value;
    }
    return NULL;
}

static void view_part(struct view *view, const char *part, const json_t *rows, int64_t rounds)
{
    static const char *const fields[] = {"threads", "in_flight"};
    const json_t *row;
    size_t i;

    json_array_foreach(rows, i, row)
    {
        struct view_cell *cell;
        const char *handover = json_text(row, "handover");

        if (!json_is_object(row))
            continue;
        cell = view_add(view);
        cell->group = part;
        cell->column = *handover ? handover : json_text(row, "call");
        cell->row = json_text(row, "lock");
        cell->mark = mark_of_target(json_object_get(row, "reached"));
        for (size_t f = 0; f < sizeof fields / sizeof fields[0] && cell->clients == 0; f++)
            cell->clients = json_whole(row, fields[f]);
        read_spread(&cell->speed, speed_of(row), rounds);
    }
}

static void view_bench_locks(struct view *view, const json_t *parts)
{
    int64_t rounds = json_whole(parts, "rounds");
    const json_t *part, *inner;
    const char *name, *inner_name;

    json_object_foreach((json_t *)parts, name, part)
    {
        view_part(view, name, part, rounds);
        json_object_foreach((json_t *)part, inner_name, inner)
        {
            view_part(view, inner_name, inner, rounds);
        }
    }
}

const json_t *view_sale(const struct run_data *data, const char *dir)
{
    return json_object_get(json_object_get(json_object_get(data->json, "results"), "runs"), dir);
}

bool view_is_remote(const struct run_data *data)
{
    const json_t *sale = view_sale(data, ".");

    return sale && !json_object_get(sale, "run") && !json_object_get(sale, "verdict");
}

const json_t *view_service(const struct run_data *data, const char **dir)
{
    const json_t *results = json_object_get(data->json, "results");
    json_t *runs = json_object_get(results, "runs"), *sale;
    const char *name;

    if (json_array_size(json_object_get(results, "service")) > 0) {
        *dir = json_text(results, "service_of");
        return json_object_get(results, "service");
    }
    json_object_foreach(runs, name, sale)
    {
        if (json_array_size(json_object_get(sale, "service")) > 0) {
            *dir = name;
            return json_object_get(sale, "service");
        }
    }
    return NULL;
}

/* The lock of the service, from the run.json of a sale; "": run.json does not name it. */
static const char *sale_lock(const json_t *run)
{
    static const char prefix[] = "--lock=";
    const char *lock = json_text(run, "lock");
    const json_t *flag;
    size_t i;

    json_array_foreach(json_object_get(run, "seckilld_flags"), i, flag)
    {
        const char *text = json_string_value(flag);

        if (text && strncmp(text, prefix, sizeof prefix - 1) == 0)
            lock = text + sizeof prefix - 1;
        else if (text && strcmp(text, "--lock") == 0)
            lock = json_string_value(json_array_get(json_object_get(run, "seckilld_flags"), i + 1));
    }
    return lock ? lock : "";
}

static int64_t check_count(const json_t *checks, const char *name)
{
    return json_whole(json_object_get(checks, name), "count");
}

/* ---- load ---- */

static enum cell_mark mark_of_audit(const json_t *verdict)
{
    const json_t *valid = json_object_get(verdict, "valid"),
                 *checks = json_object_get(verdict, "checks"), *check;
    const char *name;
    bool is_broken = false, is_wrong = false;

    json_object_foreach((json_t *)checks, name, check)
    {
        bool is_the_locks = strcmp(name, "oversold") == 0 || strcmp(name, "lost-update") == 0 ||
                            strcmp(name, "duplicate") == 0;

        if (!json_is_false(json_object_get(check, "valid")))
            continue;
        is_broken = is_broken || is_the_locks;
        is_wrong = is_wrong || !is_the_locks;
    }
    if (json_is_true(valid) && sale_has_evidence(verdict))
        return CELL_MARK_SOUND;
    return !json_is_false(valid)    ? CELL_MARK_UNKNOWN
           : is_wrong || !is_broken ? CELL_MARK_WRONG
                                    : CELL_MARK_BROKEN;
}

/* Accepted orders a second from the first request to the last row. */
static double speed_of_sale(const json_t *sale)
{
    const json_t *load = json_object_get(sale, "load");
    const json_t *kept =
        json_object_get(json_object_get(json_object_get(sale, "run"), "times"), "orders_per_s");
    double seconds = json_double(load, "duration_ms") / 1000;

    if (json_is_number(kept))
        return json_number_value(kept);
    return seconds > 0 ? json_double(json_object_get(load, "outcomes"), "accepted") / seconds : 0;
}

static void view_load(struct view *view, const struct run_data *data)
{
    const json_t *sale = view_sale(data, ".");
    const json_t *run = json_object_get(sale, "run"), *verdict = json_object_get(sale, "verdict");
    const json_t *checks = json_object_get(verdict, "checks");
    struct view_cell *cell;

    if (!sale)
        return;
    cell = view_add(view);
    cell->column = json_text(run, "hazard");
    cell->row = sale_lock(run);
    cell->dir = ".";
    cell->mark = verdict ? mark_of_audit(verdict) : CELL_MARK_NOT_DONE;
    cell->done = 1;
    cell->bad = cell->mark != CELL_MARK_SOUND;
    cell->excess = check_count(checks, "oversold");
    if (cell->excess == 0 && (cell->excess = check_count(checks, "duplicate")) > 0)
        cell->is_per_user = true;
    values_add(&cell->speed, speed_of_sale(sale));
    values_add(
        &cell->p99_ms,
        json_double(json_object_get(json_object_get(sale, "load"), "latency_accepted"), "p99_ms"));
}

/* ---- compare ---- */

static enum cell_mark worse(enum cell_mark a, const char *outcome)
{
    enum cell_mark b = strcmp(outcome, "sound") == 0    ? CELL_MARK_SOUND
                       : strcmp(outcome, "broken") == 0 ? CELL_MARK_BROKEN
                       : strcmp(outcome, "wrong") == 0  ? CELL_MARK_WRONG
                                                        : CELL_MARK_UNKNOWN;
    /* A violation counts as worse than an unknown verdict. */
    static const int harm[] = {0, 0, 1, 3, 4, 2};

    return harm[b] > harm[a] ? b : a;
}

static void add_run(struct view_cell *cell, const json_t *run)
{
    const char *outcome = json_text(run, "outcome");
    const json_t *checks = json_object_get(run, "checks");
    int64_t excess = check_count(checks, cell->is_per_user ? "duplicate" : "oversold");

    cell->mark = worse(cell->mark, outcome);
    cell->excess = excess > cell->excess ? excess : cell->excess;
    cell->done++;
    cell->bad += strcmp(outcome, "sound") != 0;
    if (*cell->dir == '\0')
        cell->dir = json_text(run, "dir");
    if (strcmp(outcome, "unknown") == 0)
        return;
    values_add(&cell->speed, json_double(run, "orders_per_s"));
    values_add(&cell->p99_ms, json_double(run, "p99_ms"));
}

static void view_compare(struct view *view, const json_t *summary)
{
    const json_t *entry, *run;
    size_t i, j;

    json_array_foreach(json_object_get(summary, "cells"), i, entry)
    {
        struct view_cell *cell = view_add(view);
        const char *outcome = json_text(entry, "outcome");

        cell->group = json_text(entry, "experiment");
        cell->column = json_text(entry, "hazard");
        cell->row = json_text(entry, "lock");
        cell->is_per_user = strcmp(cell->group, "one-per-user") == 0;
        cell->is_unexpected = strcmp(outcome, "UNEXPECTED") == 0;
        cell->has_no_expectation = strcmp(outcome, "no expectation") == 0;
        cell->is_not_done = strcmp(outcome, "not done") == 0;
        cell->is_unknown = strcmp(outcome, "as expected") != 0 && !cell->is_unexpected &&
                           !cell->has_no_expectation && !cell->is_not_done;
        json_array_foreach(json_object_get(entry, "runs"), j, run)
        {
            add_run(cell, run);
        }
    }
}

/* ---- scenarios and the matrix ---- */

/* A cell of a matrix is not done before it has a run of each seed.  An unexpected or unknown run
 * counts at once. */
static enum cell_mark mark_of_performed(const json_t *entry)
{
    const char *verdict = json_text(entry, "verdict");
    bool lacks_runs = json_whole(entry, "planned") >
                      (int64_t)json_array_size(json_object_get(entry, "runs"));

    return strcmp(verdict, "UNEXPECTED") == 0    ? CELL_MARK_WRONG
           : strcmp(verdict, "not done") == 0    ? CELL_MARK_NOT_DONE
           : strcmp(verdict, "as expected") != 0 ? CELL_MARK_UNKNOWN
           : lacks_runs                          ? CELL_MARK_NOT_DONE
                                                 : CELL_MARK_SOUND;
}

static int harm_of(const json_t *run)
{
    const char *verdict = json_text(run, "verdict");

    return strcmp(verdict, "UNEXPECTED") == 0 ? 2 : strcmp(verdict, "as expected") != 0;
}

/* The outcome of the run that decides the verdict of a cell of a matrix; "": it has none. */
static const char *outcome_of_worst(const json_t *runs)
{
    const json_t *worst = json_array_get(runs, 0), *run;
    size_t i;

    json_array_foreach(runs, i, run)
    {
        if (harm_of(run) > harm_of(worst))
            worst = run;
    }
    return json_text(worst, "outcome");
}

static void view_performed(struct view *view, const json_t *cells)
{
    const json_t *entry;
    size_t i;

    json_array_foreach(cells, i, entry)
    {
        struct view_cell *cell = view_add(view);
        const char *outcome = outcome_of_worst(json_object_get(entry, "runs"));

        cell->group = json_text(entry, "scenario");
        cell->column = json_text(entry, "guard");
        cell->row = json_text(entry, "lock");
        cell->outcome = *outcome ? outcome : json_text(entry, "outcome");
        cell->mark = mark_of_performed(entry);
        cell->is_unexpected = cell->mark == CELL_MARK_WRONG;
    }
}

void view_make(struct view *view, const struct run_data *data)
{
    const json_t *results = json_object_get(data->json, "results");

    *view = (struct view){.kind = json_text(data->json, "kind")};
    view_compare(view, json_object_get(results, "summary"));
    view_performed(view, json_object_get(json_object_get(results, "matrix"), "cells"));
    view_performed(view, json_object_get(json_object_get(results, "stories"), "cells"));
    view_performed(view, json_object_get(json_object_get(results, "measured"), "rows"));
    view_bench(view, json_object_get(results, "bench"));
    view_bench_locks(view, json_object_get(results, "bench_locks"));
    if (view->count == 0)
        view_load(view, data);
}
