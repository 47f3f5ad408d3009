/* SPDX-License-Identifier: MIT */
/* test_spread.c -- the median and spread of several measurements. */
#include "loadtest/kit/spread.h"
#include "tests/registered.h"

TEST(of_an_odd_number_the_middle_is_the_median)
{
    double values[] = {9, 1, 4};
    struct spread spread = spread_of(values, 3);

    assert_true(spread.median == 4 && spread.least == 1 && spread.most == 9);
}

TEST(of_an_even_number_the_mean_of_the_two_in_the_middle)
{
    double values[] = {8, 2, 100, 4};
    struct spread spread = spread_of(values, 4);

    assert_true(spread.median == 6 && spread.least == 2 && spread.most == 100);
}

TEST(one_measurement_is_all_three)
{
    double value = 0.5;
    struct spread spread = spread_of(&value, 1);

    assert_true(spread.median == 0.5 && spread.least == 0.5 && spread.most == 0.5);
}
