/* SPDX-License-Identifier: MIT */
/* test_objectives.c -- rates and objectives are parsed, and a malformed one is refused
 * with the position of the mistake. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "loadtest/open_loop/wrk_figures.h"
#include "loadtest/open_loop/rate.h"
#include "loadtest/open_loop/step.h"
#include "tests/registered.h"
#include "tests/unit/scratch.h"

TEST(rates_are_one_or_steps)
{
    static const struct {
        const char *text;
        int64_t first, last;
        int count;
    } rates[] = {
        {"2000", 2000, 2000, 1},          {"1000..20000/1000", 1000, 20000, 20},
        {"1..3/1", 1, 3, 3},              {"100..250/100", 100, 200, 2},
        {"100..1000", 100, 1000, 10},     {"1..2", 1, 2, 2},
        {"10000000", 10000000, 10000000, 1},
    };

    for (size_t i = 0; i < sizeof rates / sizeof rates[0]; i++) {
        struct rate_steps steps;
        char why[RATE_WHY_MAX];

        assert_true(rate_parse(rates[i].text, &steps, why));
        assert_int_equal(steps.count, rates[i].count);
        assert_int_equal(rate_of(&steps, 0), rates[i].first);
        assert_int_equal(rate_of(&steps, steps.count - 1), rates[i].last);
    }
}

TEST(a_rate_that_makes_no_sense_is_refused_with_its_place)
{
    static const struct {
        const char *text, *says;
    } rates[] = {
        {"", "at its end"},          {"0", "\"0\""},         {"-5", "\"-5\""},
        {"10k", "\"k\""},            {"10000001", "\"10000001\""}, {"100..", "at its end"},
        {"100..100", "above the first"}, {"100..50", "above the first"},
        {"100..200/0", "\"0\""},     {"100..200/x", "\"x\""}, {"1..1000/1", "at most 200 steps"},
        {"100..200/10/5", "\"/5\""}, {"1.5", "\".5\""},
        {"99999999999999999999", "character 1"},
    };

    for (size_t i = 0; i < sizeof rates / sizeof rates[0]; i++) {
        struct rate_steps steps = {.from = 7};
        char why[RATE_WHY_MAX] = "";

        assert_false(rate_parse(rates[i].text, &steps, why));
        if (!strstr(why, rates[i].says))
            fail_msg("\"%s\" is refused with: %s", rates[i].text, why);
        assert_int_equal(steps.from, 7);
    }
}

TEST(objectives_are_read)
{
    struct objectives all;
    char why[OBJECTIVE_WHY_MAX];

    assert_true(objectives_parse("p99<50ms\nfailed<0.1%,p99.9<2.5ms,accepted>99%", &all, why));
    assert_int_equal(all.count, 4);
    assert_string_equal(all.at[0].text, "p99<50ms");
    assert_true(all.at[0].limit > 49.99 && all.at[0].limit < 50.01);
    assert_string_equal(all.at[1].text, "failed<0.1%");
    assert_true(all.at[1].limit > 0.00099 && all.at[1].limit < 0.00101);
    assert_true(all.at[2].limit > 2.49 && all.at[2].limit < 2.51);
    assert_int_equal(all.at[3].sign, SIGN_ABOVE);
}

TEST(an_objective_that_makes_no_sense_is_refused_with_its_place)
{
    static const struct {
        const char *text, *says;
    } objectives[] = {
        {"p99", "at its end: expected \"<\", \"<=\", \"=\""},
        {"p99<", "at its end: expected a duration"},
        {"p99<50", "\"50\": expected a duration"},
        {"p99<<50ms", "\"<50ms\": expected a duration"},
        {"p100<1s", "expected a name"},
        {"p0<1s", "expected a name"},
        {"latency<1s", "expected a name: p50"},
        {"failed<1", "\"1\": expected a share"},
        {"failed<101%", "expected a share"},
        {"failed<-1%", "expected a share"},
        {"p99<50ms,,failed<1%", "expected a name"},
        {"p99<1e3ms", "expected a duration"},
        {"oversold=", "at its end: expected a whole number"},
        {"oversold=x", "\"x\": expected a whole number"},
        {"oversold=0%", "\"0%\": expected a whole number"},
        {"oversold!0", "expected a name"},
    };

    for (size_t i = 0; i < sizeof objectives / sizeof objectives[0]; i++) {
        struct objectives all = {.count = 3};
        char why[OBJECTIVE_WHY_MAX] = "";

        assert_false(objectives_parse(objectives[i].text, &all, why));
        if (!strstr(why, objectives[i].says))
            fail_msg("\"%s\" is refused with: %s", objectives[i].text, why);
        assert_int_equal(all.count, 3);
    }
}

/* 1,000 requests: 989 answered within 10 ms, 10 after 100 ms, one without an answer. */
static struct step_result *sample(void)
{
    struct step_result *step = calloc(1, sizeof *step);

    assert_non_null(step);
    step->due = step->sent = 1000;
    step->unanswered = 1;
    step->rate = step->duration_ms = 1000;
    step->answered_per_s = 999;
    step->answers.counts[ANSWER_ACCEPTED] = 850;
    step->answers.counts[ANSWER_QUEUED] = 50;
    step->answers.counts[ANSWER_SOLD_OUT] = 90;
    step->answers.counts[ANSWER_LOCK_BUSY] = 7; /* refused, as a sold-out buyer is */
    step->answers.counts[ANSWER_DATABASE_BUSY] = 2;
    for (int i = 0; i < 1000; i++)
        latency_add(&step->latency, i < 989 ? 10000000 : i < 999 ? 100000000 : 900000000);
    return step;
}

TEST(a_step_is_held_against_each_objective)
{
    static const struct {
        const char *text;
        bool holds;
    } objectives[] = {
        {"p50<11ms", true},     {"p98<11ms", true},      {"p99<11ms", false},
        {"p99<101ms", true},    {"p99.99<1s", true},     {"max<899ms", false},
        {"mean<12ms", true},    {"mean<11ms", false},    {"failed<0.4%", true},
        {"failed<0.3%", false}, {"accepted>89%", true},  {"accepted>90%", false},
        {"unanswered<0.1%", false}, {"unanswered<0.11%", true}, {"p50>9ms", true},
        {"p99<101ms,failed<0.3%", false}, {"rate>=900", true}, {"rate>900", false},
    };
    struct step_result *step = sample();

    for (size_t i = 0; i < sizeof objectives / sizeof objectives[0]; i++) {
        struct objectives all;
        char why[OBJECTIVE_WHY_MAX];

        assert_true(objectives_parse(objectives[i].text, &all, why));
        if (step_holds(step, &all, NULL) != objectives[i].holds)
            fail_msg("%s %s", objectives[i].text, objectives[i].holds ? "is missed" : "holds");
    }
    free(step);
}

TEST(a_step_of_a_late_generator_holds_nothing)
{
    struct step_result *step = sample();
    struct objectives none = {0};

    assert_true(step_holds(step, &none, NULL));
    for (int i = 0; i < 100; i++)
        latency_add(&step->lag, 12000000);
    assert_non_null(step_flaw(step));
    assert_false(step_holds(step, &none, NULL));
    free(step);
    step = sample();
    step->processor = 0.99;
    assert_false(step_holds(step, &none, NULL));
    free(step);
}

/* The drain after a step answers what the service did not answer in time, so that the objectives
 * hold. */
TEST(a_rate_that_was_not_reached_is_not_sustained)
{
    struct step_result *step = sample();
    struct objectives none = {0};

    assert_true(step_sustains(step, &none));
    step->answered_per_s = 400;
    assert_true(step_holds(step, &none, NULL));
    assert_false(step_sustains(step, &none));
    free(step);
}

/* Both kinds of load count a queued order as accepted. */
TEST(wrk_counts_a_queued_order_as_accepted)
{
    struct run_result *result = calloc(1, sizeof *result);
    char dir[SCRATCH_SIZE], path[SCRATCH_SIZE + 16];
    struct wrk_figures figures;
    FILE *file;

    assert_non_null(result);
    result->orders_per_s = 900;
    scratch_make(dir, "figures");
    snprintf(path, sizeof path, "%s/load.json", dir);
    file = fopen(path, "w");
    assert_non_null(file);
    fputs("{\"sent\": 1000, \"unanswered\": 1, \"outcomes\": {\"accepted\": 850, "
          "\"queued\": 50, \"sold-out\": 97, \"database-busy\": 2}}",
          file);
    assert_int_equal(fclose(file), 0);
    wrk_figures_read(&figures, dir, result);
    scratch_remove(dir);
    assert_true(fabs(figures.figures[FIGURE_ACCEPTED] - 0.9) < 1e-9);
    assert_true(fabs(figures.figures[FIGURE_FAILED] - 0.003) < 1e-9);
    assert_true(fabs(figures.figures[FIGURE_RATE] - 900) < 1e-9);
    free(result);
}

/* Judge the objective `text` for a run that was oversold by two, and had a p99 of 60 ms. */
static double of_sample(const void *of, double share)
{
    (void)of;
    return share > 0.98 && share < 0.995 ? 60 : NAN;
}

TEST(an_objective_is_kept_missed_or_not_judged)
{
    static const struct {
        const char *text, *says;
        enum exit_code of_valid, of_unknown, of_invalid;
    } CASES[] = {
        {"oversold<=2,p99>=60ms", "", 0, 2, 1},
        {"oversold=2", "", 0, 2, 1},
        {"oversold=0", "oversold=0 is MISSED: 2", 3, 3, 3},
        {"p99<50ms", "p99<50ms is MISSED: 60.00 ms", 3, 3, 3},
        {"p50<50ms", "p50<50ms is not judged: nothing was measured", 3, 3, 3},
        {"doubles=0", "doubles=0 is not judged: nothing was measured", 3, 3, 3},
        {"p99<50ms,oversold=0", "p99<50ms is MISSED: 60.00 ms", 3, 3, 3},
        {"rate>100", "rate>100 is MISSED: 100", 3, 3, 3},
    };
    struct measured measured = measured_nothing();

    measured.quantile_ms = of_sample;
    measured.figures[FIGURE_OVERSOLD] = 2;
    measured.figures[FIGURE_RATE] = 100;
    for (size_t i = 0; i < sizeof CASES / sizeof CASES[0]; i++) {
        struct objectives all;
        char why[OBJECTIVE_WHY_MAX], says[OBJECTIVE_SAYS_MAX];
        bool hold;

        assert_true(objectives_parse(CASES[i].text, &all, why));
        hold = objectives_first_missed(&all, &measured, says) == NULL;
        assert_string_equal(says, CASES[i].says);
        assert_int_equal(objectives_exit(hold, EXIT_VALID, false), CASES[i].of_valid);
        assert_int_equal(objectives_exit(hold, EXIT_UNKNOWN, false), CASES[i].of_unknown);
        assert_int_equal(objectives_exit(hold, EXIT_INVALID, false), CASES[i].of_invalid);
        assert_int_equal(objectives_exit(hold, EXIT_INVALID, true), EXIT_INVALID);
        assert_int_equal(objectives_exit(hold, EXIT_INTERRUPTED, false), EXIT_INTERRUPTED);
    }
}

/* An objective must not hide a finding of the audit that it is not about. */
TEST(the_audit_may_find_what_no_objective_is_about)
{
    static const struct {
        const char *text;
        enum audit_check check;
        enum verdict finding;
        bool others;
    } CASES[] = {
        {"oversold=0", AUDIT_OVERSOLD, VERDICT_INVALID, false},
        {"doubles=0,lost<3", AUDIT_LOST_UPDATE, VERDICT_INVALID, false},
        {"doubles=0,lost<3", AUDIT_DUPLICATE, VERDICT_INVALID, false},
        {"oversold=0", AUDIT_TOLD_NOT_THERE, VERDICT_INVALID, true},
        {"oversold=0", AUDIT_DUPLICATE, VERDICT_INVALID, true},
        {"p99<1ms,rate>1", AUDIT_OVERSOLD, VERDICT_INVALID, true},
        {"oversold=0", AUDIT_TOLD_NOT_THERE, VERDICT_UNKNOWN, false},
    };

    for (size_t i = 0; i < sizeof CASES / sizeof CASES[0]; i++) {
        struct audit_verdict verdict = {.valid = VERDICT_INVALID};
        struct objectives all;
        char why[OBJECTIVE_WHY_MAX];

        for (int check = 0; check < AUDIT_CHECK_COUNT; check++)
            verdict.findings[check].valid = VERDICT_VALID;
        verdict.findings[AUDIT_OVERSOLD].valid = VERDICT_UNKNOWN;
        verdict.findings[CASES[i].check].valid = CASES[i].finding;
        assert_true(objectives_parse(CASES[i].text, &all, why));
        assert_int_equal(figures_found_others(&all, &verdict), CASES[i].others);
    }
}
