/* SPDX-License-Identifier: MIT */
/* test_scenario_orders.c -- each order that a client was told of needs a row of its own. */
#include "loadtest/scenario/orders.h"
#include "tests/registered.h"

static const struct order_row rows[] = {{"1", "a"}, {"1", "b"}, {"2", "c"}};

enum { ROWS = sizeof rows / sizeof rows[0] };

static bool are_there(const struct order_told *told, size_t count, bool is_queued)
{
    return orders_are_there(rows, ROWS, told, count, is_queued);
}

TEST(each_told_order_has_its_row)
{
    static const struct order_told all[] = {{{"1", "b"}, false}, {{"2", "c"}, false},
                                            {{"1", "a"}, false}};

    assert_true(are_there(all, 0, false));
    assert_true(are_there(all, 3, false));
}

/* There are as many rows as told orders, and one of them is of an order that nobody was told of. */
TEST(a_row_that_nobody_was_told_of_is_no_substitute)
{
    static const struct order_told other_request[] = {{{"1", "a"}, false}, {{"1", "b"}, false},
                                                      {{"2", "lost"}, false}};
    static const struct order_told other_user[] = {{{"1", ""}, true}, {{"2", ""}, true},
                                                   {{"3", ""}, true}};
    static const struct order_told twice[] = {{{"2", "c"}, false}, {{"2", "c"}, false}};

    assert_false(are_there(other_request, 3, false));
    assert_false(are_there(other_user, 3, true));
    assert_true(are_there(other_user, 2, true));
    assert_false(are_there(twice, 2, false));
}

TEST(an_order_that_was_queued_and_then_sold_has_one_row)
{
    static const struct order_told both[] = {{{"2", ""}, true}, {{"2", "c"}, false}};

    assert_true(are_there(both, 2, true));
    assert_true(are_there(both, 2, false));
}

TEST(an_order_without_a_request_leaves_the_others_their_rows)
{
    static const struct order_told mixed[] = {{{"1", ""}, false}, {{"1", "a"}, false}};

    assert_true(are_there(mixed, 2, false));
}
