/* SPDX-License-Identifier: MIT */
/* test_histogram.c -- every duration has its bucket, and quantiles are honest. */
#include <pthread.h>
#include <string.h>

#include "app/metrics.h"
#include "base/os/histogram.h"
#include "loadtest/kit/buckets.h"
#include "tests/registered.h"

enum { BITS_MAX = 10 };

TEST(buckets_follow_one_another)
{
    for (unsigned bits = 0; bits < BITS_MAX; bits++) {
        size_t count = (size_t)40 << bits;

        for (size_t i = 0; i + 1 < count; i++) {
            uint64_t end = histogram_end(i, bits);

            assert_int_equal(histogram_bucket(end - 1, bits, count), i);
            assert_int_equal(histogram_bucket(end, bits, count), i + 1);
            assert_true(histogram_end(i + 1, bits) > end);
        }
        assert_int_equal(histogram_bucket(0, bits, count), 0);
        assert_int_equal(histogram_bucket(UINT64_MAX, bits, count), count - 1);
    }
    assert_int_equal(histogram_end(METRICS_BUCKETS - 2, METRICS_BUCKET_BITS), 117440512);
}

TEST(a_value_is_known_to_one_part_in_2_to_the_bits)
{
    for (unsigned bits = 0; bits < BITS_MAX; bits++)
        for (uint64_t us = 1; us < 60000000; us = us * 5 / 4 + 1) {
            uint64_t end = histogram_end(histogram_bucket(us, bits, SIZE_MAX), bits);

            assert_true(end > us && end - us <= (us >> bits) + 1);
        }
}

TEST(quantiles_come_from_what_was_counted)
{
    int64_t buckets[4] = {0};

    assert_int_equal(buckets_quantile(buckets, 4, 0.5), 4);
    buckets[1] = 99;
    buckets[3] = 1;
    assert_int_equal(buckets_quantile(buckets, 4, 0), 1);
    assert_int_equal(buckets_quantile(buckets, 4, 0.99), 1);
    assert_int_equal(buckets_quantile(buckets, 4, 1), 3);
}

TEST(durations_and_sizes_are_summed)
{
    struct metrics *m = metrics_new();
    struct metrics_cell *cell = m != NULL ? metrics_cell(m) : NULL;
    struct metrics_histogram_sum sum = {0};

    assert_non_null(cell);
    metrics_record_duration(&cell->lock_wait, 500000000);
    metrics_record_duration(&cell->lock_wait, -5);
    metrics_record_size(&cell->lock_wait, 7);
    metrics_collect(m, offsetof(struct metrics_cell, lock_wait), &sum);
    assert_int_equal(sum.buckets[0], 1);
    assert_int_equal(sum.buckets[7], 1);
    assert_int_equal(sum.sum, 500007);
    metrics_free(m);
}

/* The line of the last bucket and _count have the same value, whatever is counted between them. */
TEST(a_scrape_does_not_contradict_itself)
{
    static const struct metrics_facts FACTS = {.lock = "none",
                                               .admission = "none",
                                               .stock_guard = "conditional",
                                               .process = "p",
                                               .order_path = "each"};
    struct metrics *m = metrics_new();
    struct text out = {0};

    assert_non_null(m);
    for (int i = 0; i < 3; i++) {
        struct metrics_cell *cell = metrics_cell(m);

        assert_non_null(cell);
        metrics_record_duration(&cell->lock_wait, 1000 * i);
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
        metrics_record_duration(&((struct metrics_cell *)cell)->lock_wait, 1000);
    }
    return NULL;
}

TEST(threads_that_share_a_cell_lose_no_count)
{
    enum { CELLS = 1000, THREADS = 4 };
    static const struct metrics_facts FACTS = {
        .lock = "none", .admission = "none", .stock_guard = "conditional", .process = "p"};
    struct metrics *m = metrics_new();
    struct metrics_cell *first = metrics_cell(m), *shared = NULL;
    pthread_t threads[THREADS];
    struct text out = {0};

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
