/* SPDX-License-Identifier: MIT */
/* orders.c -- finds the row of each order that a client was told of. */
#include "loadtest/scenario/orders.h"

#include <string.h>

/* A row that is not yet another told order's.  -1: there is none. */
static int find_row(const struct order_row *rows, size_t row_count, const bool *is_taken,
                    const struct order_row *wanted)
{
    for (size_t i = 0; i < row_count; i++)
        if (!is_taken[i] && strcmp(rows[i].user, wanted->user) == 0 &&
            (wanted->request[0] == '\0' || strcmp(rows[i].request, wanted->request) == 0))
            return (int)i;
    return -1;
}

/* Take a row for each told order with a request, or for each without.  Those with a request choose
 * first, since no other row will do. */
static bool take_rows(const struct order_row *rows, size_t row_count,
                      const struct order_told *told, size_t told_count, bool is_queued,
                      bool has_request, bool *is_taken)
{
    for (size_t i = 0; i < told_count; i++) {
        int row;

        if (told[i].is_queued != is_queued || (told[i].row.request[0] != '\0') != has_request)
            continue;
        row = find_row(rows, row_count, is_taken, &told[i].row);
        if (row < 0)
            return false;
        is_taken[row] = true;
    }
    return true;
}

bool orders_are_there(const struct order_row *rows, size_t row_count, const struct order_told *told,
                      size_t told_count, bool is_queued)
{
    bool is_taken[ORDERS_MAX] = {false};

    if (row_count > ORDERS_MAX)
        row_count = ORDERS_MAX;
    return take_rows(rows, row_count, told, told_count, is_queued, true, is_taken) &&
           take_rows(rows, row_count, told, told_count, is_queued, false, is_taken);
}
