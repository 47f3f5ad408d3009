/* SPDX-License-Identifier: MIT */
/* orders.h -- the orders that clients were told of, and the rows of the database. */
#ifndef LOADTEST_SCENARIO_ORDERS_H
#define LOADTEST_SCENARIO_ORDERS_H

#include <stdbool.h>
#include <stddef.h>

enum { ORDER_USER_MAX = 24, ORDER_REQUEST_MAX = 96, ORDERS_MAX = 64 };

struct order_row {
    char user[ORDER_USER_MAX], request[ORDER_REQUEST_MAX];
};

struct order_told {
    struct order_row row;   /* an empty request: the client does not know its number     */
    bool is_queued;         /* told "queued"; otherwise "sold"                           */
};

/* Has each told order a row of its own, of its user and under its request?  This is asked of the
 * queued orders or of the sold ones, since an order that was first queued and then sold has one
 * row. */
bool orders_are_there(const struct order_row *rows, size_t row_count,
                      const struct order_told *told, size_t told_count, bool is_queued);

#endif /* LOADTEST_SCENARIO_ORDERS_H */
