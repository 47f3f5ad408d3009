/* SPDX-License-Identifier: MIT */
/* test_scenario_orders.c -- each order that a client was told of needs a row of its own. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
/* cmocka.h needs the four headers above. */
#include <cmocka.h>

#include "loadtest/scenario/orders.h"

static const struct order_row rows[] = {{"1", "a"}, {"1", "b"}, {"2", "c"}};

enum { ROWS = sizeof rows / sizeof rows[0] };

static bool are_there(const struct order_told *told, size_t count, bool is_queued)
{
    return orders_are_there(rows, ROWS, told, count, is_queued);
}

static void each_told_order_has_its_row(void **state)
{
    static const struct order_told all[] = {{{"1", "b"}, false}, {{"2", "c"}, false},
                                            {{"1", "a"}, false}};

    (void)state;
    assert_true(are_there(all, 0, false));
    assert_true(are_there(all, 3, false));
}

/* There are as many rows as told orders, and one of them is of an order that nobody was told of. */
static void a_row_that_nobody_was_told_of_is_no_substitute(void **state)
{
    static const struct order_told other_request[] = {{{"1", "a"}, false}, {{"1", "b"}, false},
                                                      {{"2", "lost"}, false}};
    static const struct order_told other_user[] = {{{"1", ""}, true}, {{"2", ""}, true},
                                                   {{"3", ""}, true}};
    static const struct order_told twice[] = {{{"2", "c"}, false}, {{"2", "c"}, false}};

    (void)state;
    assert_false(are_there(other_request, 3, false));
    assert_false(are_there(other_user, 3, true));
    assert_true(are_there(other_user, 2, true));
    assert_false(are_there(twice, 2, false));
}

static void an_order_that_was_queued_and_then_sold_has_one_row(void **state)
{
    static const struct order_told both[] = {{{"2", ""}, true}, {{"2", "c"}, false}};

    (void)state;
    assert_true(are_there(both, 2, true));
    assert_true(are_there(both, 2, false));
}

static void an_order_without_a_request_leaves_the_others_their_rows(void **state)
{
    static const struct order_told mixed[] = {{{"1", ""}, false}, {{"1", "a"}, false}};

    (void)state;
    assert_true(are_there(mixed, 2, false));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_told_order_has_its_row),
        cmocka_unit_test(a_row_that_nobody_was_told_of_is_no_substitute),
        cmocka_unit_test(an_order_that_was_queued_and_then_sold_has_one_row),
        cmocka_unit_test(an_order_without_a_request_leaves_the_others_their_rows),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
