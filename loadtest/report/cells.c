/* SPDX-License-Identifier: MIT */
/* cells.c -- cells, the figures in them, and the cells of two runs that belong together. */
#include "loadtest/report/cells.h"

#include <stdlib.h>
#include <string.h>

#include "loadtest/kit/memory.h"

static int compare_values(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;

    return (x > y) - (x < y);
}

void values_add(struct view_values *values, double value)
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

struct view_cell *view_add(struct view *view)
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
