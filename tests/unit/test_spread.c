/* SPDX-License-Identifier: MIT */
/* test_spread.c -- the median and spread of several measurements. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "loadtest/kit/spread.h"

static void of_an_odd_number_the_middle_is_the_median(void **state)
{
    double values[] = {9, 1, 4};
    struct spread spread = spread_of(values, 3);

    (void)state;
    assert_true(spread.median == 4 && spread.least == 1 && spread.most == 9);
}

static void of_an_even_number_the_mean_of_the_two_in_the_middle(void **state)
{
    double values[] = {8, 2, 100, 4};
    struct spread spread = spread_of(values, 4);

    (void)state;
    assert_true(spread.median == 6 && spread.least == 2 && spread.most == 100);
}

static void one_measurement_is_all_three(void **state)
{
    double value = 0.5;
    struct spread spread = spread_of(&value, 1);

    (void)state;
    assert_true(spread.median == 0.5 && spread.least == 0.5 && spread.most == 0.5);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(of_an_odd_number_the_middle_is_the_median),
        cmocka_unit_test(of_an_even_number_the_mean_of_the_two_in_the_middle),
        cmocka_unit_test(one_measurement_is_all_three),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
