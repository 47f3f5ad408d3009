/* SPDX-License-Identifier: MIT */
/* test_scenario_measure.c -- the counts of a measurement, and its use of random numbers. */
#include <stdlib.h>
#include <string.h>

#include "loadtest/scenario/result.h"
#include "loadtest/scenario/measure.h"
#include "loadtest/scenario/performance.h"
#include "loadtest/scenario/stage.h"
#include "tests/registered.h"

/* A stage on which nothing has happened. */
struct empty {
    struct scenario scenario;
    struct scenario_setup setup;
    struct scenario_result result;
    struct stage *stage;
};

static void begin(struct empty *e, int64_t duration_ms, uint64_t seed)
{
    *e = (struct empty){.scenario = {.name = "empty", .duration_ms = 120000}};
    e->setup.scenario = &e->scenario;
    e->stage = calloc(1, sizeof *e->stage);
    assert_non_null(e->stage);
    e->stage->setup = &e->setup;
    e->stage->result = &e->result;
    e->stage->check = check_new();
    stage_begin_measuring(e->stage, duration_ms, seed);
}

static void end(struct empty *e)
{
    check_free(e->stage->check);
    free(e->stage);
}

static void assert_near(double expected, double found)
{
    assert_true(found > expected - 0.05 && found < expected + 0.05);
}

/* The values are those of a textbook's table of the Wilson interval. */
TEST(test_the_interval_is_known)
{
    double low, high;

    scenario_interval(0, 100, &low, &high);
    assert_near(0, low);
    assert_near(3.7, high);
    scenario_interval(18, 100, &low, &high);
    assert_near(11.7, low);
    assert_near(26.7, high);
    scenario_interval(10, 10, &low, &high);
    assert_near(72.2, low);
    assert_near(100, high);
    scenario_interval(0, 0, &low, &high);
    assert_near(0, low);
    assert_near(0, high);
}

TEST(test_the_same_seed_draws_the_same)
{
    struct empty a, b, c;
    int differ = 0;

    begin(&a, 0, 7);
    begin(&b, 0, 7);
    begin(&c, 0, 8);
    for (int i = 0; i < 1000; i++) {
        int64_t x = stage_draw(a.stage, 3, 2001);

        assert_in_range(x, 0, 2000);
        /* Draws of another stream do not change the draws of this one. */
        stage_draw(b.stage, 4, 2001);
        assert_int_equal(stage_draw(b.stage, 3, 2001), x);
        differ += stage_draw(c.stage, 3, 2001) != x;
    }
    assert_true(differ > 900);
    end(&a);
    end(&b);
    end(&c);
}

TEST(test_its_length_is_its_own_or_what_is_asked)
{
    struct empty e;

    begin(&e, 0, 0);
    assert_int_equal(stage_duration_ms(e.stage), 120000);
    assert_false(e.result.tally.is_short);
    end(&e);
    begin(&e, 12000, 0);
    assert_int_equal(stage_duration_ms(e.stage), 12000);
    assert_true(e.result.tally.is_short);
    end(&e);
}

/* Count a sale with a stock of 1000. */
static bool count(struct empty *e, int64_t told, int64_t unsure, int64_t sold,
                  int64_t left)
{
    bool ok;

    begin(e, 0, 0);
    e->result.tally.acknowledged = told;
    e->result.tally.unsure = unsure;
    e->stage->issued = 1000;
    e->stage->sold = sold;
    e->stage->left = left;
    ok = stage_count_updates(e->stage);
    end(e);
    return ok;
}

TEST(test_what_is_not_in_the_stock_is_lost)
{
    struct empty e;

    assert_true(count(&e, 90, 0, 90, 910));
    assert_int_equal(e.result.tally.lost, 0);
    assert_true(count(&e, 90, 0, 90, 925));
    assert_int_equal(e.result.tally.updates, 90);
    assert_int_equal(e.result.tally.lost, 15);
    /* Two COMMITs got no answer; the row of one of them exists, and counts. */
    assert_true(count(&e, 90, 2, 91, 910));
    assert_int_equal(e.result.tally.updates, 91);
    assert_int_equal(e.result.tally.lost, 1);
}

TEST(test_what_does_not_add_up_is_not_counted)
{
    struct empty e;

    assert_false(count(&e, 0, 3, 3, 997)); /* no client got an answer */
    assert_false(count(&e, 90, 0, 89, 911)); /* an order has disappeared */
    assert_false(count(&e, 90, 1, 92, 908)); /* a row that no client has ordered */
    assert_false(count(&e, 90, 0, 90, 909)); /* more units taken than sold */
    assert_true(e.result.why[0] != '\0');
}
