/* SPDX-License-Identifier: MIT */
/* test_histogram.c -- every duration has its bucket, and quantiles are honest. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <pthread.h>
#include <string.h>

#include "app/histogram.h"
#include "app/metrics.h"

static void buckets_follow_one_another(void **state)
{
    (void)state;
    for (size_t i = 0; i + 1 < HISTOGRAM_BUCKETS; i++) {
        uint64_t end = histogram_bucket_end_us(i);

        assert_int_equal(histogram_bucket(end - 1), i);
        assert_int_equal(histogram_bucket(end), i + 1);
        assert_true(histogram_bucket_end_us(i + 1) > end);
    }
    assert_int_equal(histogram_bucket(0), 0);
    assert_int_equal(histogram_bucket(UINT64_MAX), HISTOGRAM_BUCKETS - 1);
}

static void a_value_is_known_within_a_quarter(void **state)
{
    (void)state;
    for (uint64_t us = 4; us < 60000000; us = us * 5 / 4 + 1) {
        uint64_t end = histogram_bucket_end_us(histogram_bucket(us));

        assert_true(end > us && end - us <= us / 4 + 1);
    }
}

static void quantiles_come_from_what_was_recorded(void **state)
{
    static struct histogram h;
    struct histogram_sum sum = {0};

    (void)state;
    assert_int_equal(histogram_quantile_us(&sum, 0.5), 0);
    for (int i = 0; i < 99; i++)
        histogram_record(&h, 1000000);
    histogram_record(&h, 500000000);
    histogram_record(&h, -5);
    histogram_collect(&h, &sum);
    assert_in_range(histogram_quantile_us(&sum, 0.5), 1001, 1250);
    assert_in_range(histogram_quantile_us(&sum, 1.0), 500001, 625000);
    assert_int_equal(sum.sum_us, 99 * 1000 + 500000);
}

/* The line of the last bucket and _count have the same value, whatever is counted between them. */
static void a_scrape_does_not_contradict_itself(void **state)
{
    static const struct metrics_facts FACTS = {.lock = "none",
                                               .admission = "none",
                                               .stock_guard = "conditional",
                                               .process = "p",
                                               .order_path = "each"};
    struct metrics *m = metrics_new();
    struct text out = {0};

    (void)state;
    assert_non_null(m);
    for (int i = 0; i < 3; i++) {
        struct metrics_cell *cell = metrics_cell(m);

        assert_non_null(cell);
        histogram_record(&cell->lock_wait, 1000 * i);
        metrics_count(&cell->orders[OUTCOME_SOLD_OUT]);
    }
    metrics_lock_lost(m);
    metrics_write(m, &FACTS, &out);
    assert_false(out.broken);
    assert_non_null(
        strstr(out.bytes, "seckill_lock_wait_seconds_bucket{le=\"+Inf\"} 3\n"));
    assert_non_null(strstr(out.bytes, "seckill_lock_wait_seconds_count 3\n"));
    assert_non_null(strstr(
        out.bytes, "seckill_orders_total{lock=\"none\",outcome=\"sold-out\"} 3\n"));
    assert_non_null(strstr(out.bytes, "seckill_lock_lost_total{lock=\"none\"} 1\n"));
    text_free(&out);
    metrics_free(m);
}

/* Thousands of worker threads share cells, and no count may be lost. */
static void *count_often(void *cell)
{
    for (int i = 0; i < 10000; i++) {
        metrics_count(&((struct metrics_cell *)cell)->orders[OUTCOME_SOLD_OUT]);
        histogram_record(&((struct metrics_cell *)cell)->lock_wait, 1000);
    }
    return NULL;
}

static void threads_that_share_a_cell_lose_no_count(void **state)
{
    enum { CELLS = 1000, THREADS = 4 };
    static const struct metrics_facts FACTS = {
        .lock = "none", .admission = "none", .stock_guard = "conditional", .process = "p"};
    struct metrics *m = metrics_new();
    struct metrics_cell *first = metrics_cell(m), *shared = NULL;
    pthread_t threads[THREADS];
    struct text out = {0};

    (void)state;
    assert_non_null(first);
    for (int i = 1; i < CELLS && shared != first; i++)
        shared = metrics_cell(m);
    assert_ptr_equal(shared, first);
    for (int i = 0; i < THREADS; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, count_often, shared), 0);
    for (int i = 0; i < THREADS; i++)
        (void)pthread_join(threads[i], NULL);
    metrics_write(m, &FACTS, &out);
    assert_non_null(strstr(
        out.bytes, "seckill_orders_total{lock=\"none\",outcome=\"sold-out\"} 40000\n"));
    assert_non_null(
        strstr(out.bytes, "seckill_lock_wait_seconds_bucket{le=\"+Inf\"} 40000\n"));
    text_free(&out);
    metrics_free(m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(buckets_follow_one_another),
        cmocka_unit_test(a_value_is_known_within_a_quarter),
        cmocka_unit_test(quantiles_come_from_what_was_recorded),
        cmocka_unit_test(a_scrape_does_not_contradict_itself),
        cmocka_unit_test(threads_that_share_a_cell_lose_no_count),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
