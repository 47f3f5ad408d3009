/* SPDX-License-Identifier: MIT */
/* test_latency.c -- a distribution of durations is exact to one part in a thousand. */
#include <stdlib.h>

#include "loadtest/open_loop/step.h"
#include "tests/registered.h"

enum { COUNT = 10007 };

static struct latency *new_latency(void)
{
    struct latency *latency = calloc(1, sizeof *latency);

    assert_non_null(latency);
    return latency;
}

TEST(no_durations_have_quantiles_of_0)
{
    struct latency *latency = new_latency();

    assert_true(latency_quantile_ms(latency, 0.99) <= 0);
    assert_true(latency_mean_ms(latency) <= 0);
    free(latency);
}

/* Durations from 1 us to an hour, each alone in a distribution, must be reported as they are. */
TEST(a_duration_is_told_to_a_thousandth)
{
    for (int64_t us = 1; us < 3600000000; us = us * 9 / 7 + 1) {
        struct latency *latency = new_latency();
        double told_ms, real_ms = (double)us / 1000;

        latency_add(latency, us * 1000);
        latency_add(latency, 7200000000000); /* the longest one is exact anyway */
        told_ms = latency_quantile_ms(latency, 0.5);
        assert_true(told_ms >= real_ms && told_ms <= real_ms * 1.002 + 0.001);
        free(latency);
    }
}

static int by_size(const void *a, const void *b)
{
    const int64_t *x = a, *y = b;

    return (*x > *y) - (*x < *y);
}

TEST(quantiles_are_those_of_the_sorted_durations)
{
    static const double shares[] = {0.5, 0.9, 0.99, 0.999, 0.9999, 1};
    static int64_t us[COUNT];
    struct latency *latency = new_latency();
    uint64_t seed = 12345;

    for (int i = 0; i < COUNT; i++) {
        seed = seed * 6364136223846793005u + 1442695040888963407u;
        us[i] = (int64_t)(seed >> 40) % 1000 * ((int64_t)(seed >> 20) % 900 + 1);
        latency_add(latency, us[i] * 1000);
    }
    qsort(us, COUNT, sizeof us[0], by_size);
    for (size_t i = 0; i < sizeof shares / sizeof shares[0]; i++) {
        size_t rank = (size_t)(shares[i] * (double)COUNT + 0.999999);
        double real_ms = (double)us[rank - 1] / 1000;
        double told_ms = latency_quantile_ms(latency, shares[i]);

        assert_true(told_ms >= real_ms && told_ms <= real_ms * 1.002 + 0.001);
    }
    free(latency);
}

TEST(durations_out_of_range_are_counted_at_the_ends)
{
    struct latency *latency = new_latency();

    latency_add(latency, -5);
    latency_add(latency, INT64_MAX);
    assert_int_equal(latency->count, 2);
    assert_true(latency_quantile_ms(latency, 0.5) <= 0.001);
    assert_true(latency_quantile_ms(latency, 1) > 9e12);
    free(latency);
}
