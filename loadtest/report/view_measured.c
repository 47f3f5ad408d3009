/* SPDX-License-Identifier: MIT */
/* view_measured.c -- the cells of bench and bench-locks, which only have speeds. */
#include "loadtest/report/view_measured.h"

#include <string.h>

#include "loadtest/report/run_files.h"

static enum cell_mark mark_of_target(const json_t *reached)
{
    return json_is_true(reached)    ? CELL_MARK_SOUND
           : json_is_false(reached) ? CELL_MARK_WRONG
                                    : CELL_MARK_MEASURED;
}

void view_bench(struct view *view, const json_t *rows)
{
    const json_t *row;
    size_t i;

    json_array_foreach(rows, i, row)
    {
        const json_t *reached = json_object_get(row, "reached");
        struct view_cell *cell = view_add(view);

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

void view_bench_locks(struct view *view, const json_t *parts)
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
