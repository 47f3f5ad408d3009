/* SPDX-License-Identifier: MIT */
/* test_plan.c -- the arithmetic of `seckill plan`. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "loadtest/plan/plan.h"

static const struct plan_rates RATES = {.orders = 10000, .refused = 50000, .locks = 60000};
static struct plan plan;

static void assert_near(double value, double wanted)
{
    assert_true(value > wanted - 1e-6 && value < wanted + 1e-6);
}

/* A million buyers in 100 s, and a hundred vouchers with units for half of them. */
static struct plan_sale sale(void)
{
    return (struct plan_sale){
        .buyers = 1000000, .tries = 3, .window_s = 100, .peak = 2, .vouchers = 100,
        .stock = 5000, .hot = 0.01, .utilisation = 0.5,
    };
}

static void compute(struct plan_sale of)
{
    plan_compute(&of, &RATES, &plan);
}

static void the_demand_is_that_of_the_busiest_second(void **state)
{
    (void)state;
    compute(sale());
    assert_near(plan.arrivals, 60000); /* 1000000 * 3 * 2 / 100 */
    assert_near(plan.orders, 10000);   /* 100 * 5000 * 2 / 100 */
    assert_near(plan.refused, 50000);
    assert_near(plan.hot, 100); /* 5000 * 2 / 100 */
}

static void no_part_is_busier_than_the_utilisation(void **state)
{
    (void)state;
    compute(sale());
    assert_int_equal(plan.needs[PLAN_PARTITION].count, 2); /* 10000 / (10000 * 0.5) */
    assert_int_equal(plan.needs[PLAN_REDIS].count, 2);     /* 60000 / (60000 * 0.5) */
    assert_int_equal(plan.needs[PLAN_REPLICA].count, 4);   /* (1 + 1) / 0.5 */
    for (int part = PLAN_PARTITION; part < PLAN_PART_COUNT; part++)
        assert_true(plan.needs[part].utilisation <= 0.5 + 1e-9);
    assert_int_equal(plan.first, PLAN_REPLICA);
}

static void a_little_more_needs_one_more(void **state)
{
    struct plan_sale more = sale();

    (void)state;
    more.stock = 5001;
    compute(more);
    assert_int_equal(plan.needs[PLAN_PARTITION].count, 3);
    assert_true(plan.needs[PLAN_PARTITION].utilisation < 0.5);
}

static void there_is_one_of_each_at_the_least(void **state)
{
    struct plan_sale small = sale();

    (void)state;
    small.buyers = 1;
    small.tries = 1;
    compute(small);
    for (int part = 0; part < PLAN_PART_COUNT; part++)
        assert_int_equal(plan.needs[part].count, 1);
}

/* Further servers do not make one voucher faster. */
static void a_hot_voucher_stays_one_lane(void **state)
{
    struct plan_sale hot = sale();

    (void)state;
    compute(hot);
    assert_true(plan.lane_is_enough);
    hot.hot = 1;
    hot.stock = 1000000;
    compute(hot);
    assert_near(plan.hot, 20000);
    assert_int_equal(plan.needs[PLAN_LANE].count, 1);
    assert_near(plan.needs[PLAN_LANE].utilisation, 2);
    assert_false(plan.lane_is_enough);
    assert_near(plan.lane_sells_s, 100);
    assert_int_equal(plan.needs[PLAN_PARTITION].count, 4);
}

/* At J = d * u / (1 - u), the requests that come again use the rest of the capacity. */
static void an_outage_is_spread_over_what_is_free(void **state)
{
    struct plan_sale down = sale();

    (void)state;
    down.outage_s = 2;
    down.utilisation = 0.6;
    compute(down);
    assert_near(plan.returning, 120000);
    assert_near(plan.retry_spread_s, 3);
    assert_near(plan.arrivals + plan.returning / plan.retry_spread_s, plan.arrivals / 0.6);
}

/* 64 clients. The second measurement sells twice as many vouchers, so its transactions have half as
 * many orders. */
static struct plan_costs learn_from(double idle_cores, const double cpu_us[PLAN_POINTS_LEARNED])
{
    struct plan_point points[PLAN_POINTS_LEARNED] = {
        {1, 1, 8, 64, 5000, cpu_us[PLAN_POINT_ONE], 1, idle_cores, 0},
        {1, 1, 16, 64, 4000, cpu_us[PLAN_POINT_MORE_VOUCHERS], 1, idle_cores, 0},
        {1, 2, 8, 64, 4000, cpu_us[PLAN_POINT_MORE_REPLICAS], 1, idle_cores, 0},
        {2, 1, 8, 64, 4000, cpu_us[PLAN_POINT_MORE_PARTITIONS], 1, idle_cores, 0},
    };
    struct plan_costs costs;

    assert_true(plan_can_learn(points));
    plan_learn(points, &costs);
    return costs;
}

/* Replicas and partitions cost nothing except that their transactions are smaller. */
static struct plan_costs learn(double idle_cores, double first_us, double second_us)
{
    return learn_from(idle_cores, (double[]){first_us, second_us, second_us, first_us});
}

static double predict(struct plan_costs costs, int64_t partitions, int64_t replicas)
{
    struct plan_point at = {.partitions = partitions, .replicas = replicas, .vouchers = 8,
                            .connections = 64};

    return plan_predict(&costs, &at);
}

static void partitions_help_as_far_as_processors_are_idle(void **state)
{
    (void)state;
    assert_near(predict(learn(0.5, 200, 240), 1, 1), 5000);
    assert_near(predict(learn(0.5, 200, 240), 2, 1), 7500); /* 1.5 * 10^6 / 200 */
    assert_near(predict(learn(0.5, 200, 240), 4, 1), 7500);
    assert_near(predict(learn(0, 200, 240), 4, 1), 5000);
    assert_near(predict(learn(100, 200, 240), 4, 1), 20000);
}

static void small_transactions_make_orders_dearer(void **state)
{
    struct plan_costs costs = learn(0, 200, 240);
    struct plan_point many = {.partitions = 1, .replicas = 99, .vouchers = 8, .connections = 64};

    (void)state;
    assert_near(costs.transaction_us, 320); /* 40 us more for an eighth of a transaction more */
    assert_near(costs.order_us, 160);
    assert_near(predict(costs, 4, 2), 1e6 / 240); /* as with twice as many vouchers */
    /* Each order has at most a transaction of its own. */
    assert_near(plan_transactions(&many), 1);
    costs = learn(0, 200, 190);
    assert_near(costs.transaction_us, 0); /* noise: a transaction cannot cost less than nothing */
    assert_near(costs.order_us, 200);
}

static void replicas_and_partitions_have_costs_of_their_own(void **state)
{
    struct plan_costs costs = learn_from(0, (double[]){200, 240, 250, 215});

    (void)state;
    assert_near(costs.replica_us, 10); /* besides the 40 us for small transactions */
    assert_near(costs.spread_us, 15);
    assert_near(predict(costs, 4, 1), 1e6 / 215);
    assert_near(predict(costs, 4, 2), 1e6 / 265);
    assert_near(predict(costs, 1, 3), 1e6 / 300);
    costs = learn_from(0, (double[]){200, 240, 230, 190});
    assert_near(costs.replica_us, 0); /* noise: further servers cannot cost less than nothing */
    assert_near(costs.spread_us, 0);
}

static void points_that_differ_in_the_wrong_number_teach_nothing(void **state)
{
    struct plan_point points[PLAN_POINTS_LEARNED] = {{1, 1, 8, 64, 1, 1, 1, 0, 0},
                                                     {1, 1, 16, 64, 1, 1, 1, 0, 0},
                                                     {1, 2, 8, 64, 1, 1, 1, 0, 0},
                                                     {2, 1, 8, 64, 1, 1, 1, 0, 0}};

    (void)state;
    assert_true(plan_can_learn(points));
    for (int i = 0; i < PLAN_POINTS_LEARNED; i++) {
        struct plan_point was = points[i];

        points[i] =
            i == PLAN_POINT_ONE ? points[PLAN_POINT_MORE_PARTITIONS] : points[PLAN_POINT_ONE];
        assert_false(plan_can_learn(points));
        points[i] = was;
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_demand_is_that_of_the_busiest_second),
        cmocka_unit_test(no_part_is_busier_than_the_utilisation),
        cmocka_unit_test(a_little_more_needs_one_more),
        cmocka_unit_test(there_is_one_of_each_at_the_least),
        cmocka_unit_test(a_hot_voucher_stays_one_lane),
        cmocka_unit_test(an_outage_is_spread_over_what_is_free),
        cmocka_unit_test(partitions_help_as_far_as_processors_are_idle),
        cmocka_unit_test(small_transactions_make_orders_dearer),
        cmocka_unit_test(replicas_and_partitions_have_costs_of_their_own),
        cmocka_unit_test(points_that_differ_in_the_wrong_number_teach_nothing),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
