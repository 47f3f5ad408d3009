/* SPDX-License-Identifier: MIT */
/* test_expectations.c -- a comparison judges its runs by the expectations. */
#include <stdio.h>
#include <string.h>

#include "loadtest/compare/compare.h"
#include "loadtest/sale/hazard_catalogue.h"
#include "lock/dlock.h"
#include "tests/registered.h"

TEST(every_lock_has_an_expectation_under_every_hazard)
{
    assert_true(dlock_variant_count() >= 7);
    for (size_t l = 0; l < dlock_variant_count(); l++) {
        for (size_t h = 0; hazard_at(h); h++) {
            const char *lock = dlock_variant_at(l)->name;
            const struct hazard *hazard = hazard_at(h);

            if (expectation_of(lock, hazard, ORDER_PATH_each) == EXPECT_NOTHING)
                print_error("no outcome is expected of %s under %s\n", lock, hazard->name);
            assert_int_not_equal(expectation_of(lock, hazard, ORDER_PATH_each), EXPECT_NOTHING);
        }
    }
    assert_int_equal(expectation_of("none", &hazard_calm, ORDER_PATH_each), EXPECT_BROKEN);
    assert_int_equal(expectation_of("reentrant", &hazard_slow, ORDER_PATH_each), EXPECT_SOUND);
    assert_int_equal(expectation_of("reentrant", &hazard_freeze, ORDER_PATH_each), EXPECT_BROKEN);
    assert_int_equal(expectation_of("lua-local", &hazard_calm, ORDER_PATH_each), EXPECT_EITHER);
    assert_int_equal(expectation_of("lua-local", &hazard_slow, ORDER_PATH_each), EXPECT_BROKEN);
    assert_int_equal(expectation_of("nobody", &hazard_calm, ORDER_PATH_each), EXPECT_NOTHING);
}

TEST(a_fence_holds_under_every_hazard)
{
    const struct experiment *fencing = experiment_find("fencing");
    size_t fenced_count = 0;

    for (size_t l = 0; l < dlock_variant_count(); l++) {
        const dlock_variant_info *lock = dlock_variant_at(l);
        bool is_fenced = lock->caps & DLOCK_CAP_FENCED;

        fenced_count += is_fenced;
        assert_true(experiment_takes(fencing, lock->name) == is_fenced);
        for (size_t h = 0; hazard_at(h); h++)
            assert_int_equal(
                experiment_expectation(fencing, lock->name, hazard_at(h), ORDER_PATH_each),
                is_fenced ? EXPECT_SOUND : EXPECT_NOTHING);
    }
    assert_true(fenced_count >= 3);
    assert_int_equal(experiment_expectation(experiment_find("oversell"), "fenced",
                                            &hazard_freeze, ORDER_PATH_each),
                     EXPECT_BROKEN);
}

static enum run_outcome outcome_of(const struct experiment *experiment,
                                   const struct run_result *result)
{
    struct cell cell = {.experiment = experiment};
    char why[WHY_MAX];
    enum run_outcome outcome = run_outcome_of(&cell, result, why);

    assert_true((outcome == RUN_UNKNOWN) == (why[0] != '\0'));
    return outcome;
}

TEST(one_process_excuses_only_a_lock_that_does_not_break)
{
    assert_int_equal(expectation_among(EXPECT_BROKEN, 1), EXPECT_EITHER);
    assert_int_equal(expectation_among(EXPECT_BROKEN, 2), EXPECT_BROKEN);
    assert_int_equal(expectation_among(EXPECT_SOUND, 1), EXPECT_SOUND);
    assert_int_equal(expectation_among(EXPECT_EITHER, 1), EXPECT_EITHER);
    assert_int_equal(expectation_among(EXPECT_NOTHING, 1), EXPECT_NOTHING);
}

TEST(a_run_is_broken_by_what_its_experiment_is_about)
{
    const struct experiment *oversell = experiment_find("oversell");
    const struct experiment *per_user = experiment_find("one-per-user");
    struct run_result result = {.hazard = HAZARD_OVER};

    assert_int_equal(outcome_of(oversell, &result), RUN_SOUND);
    result.verdict.findings[AUDIT_OVERSOLD].valid = VERDICT_INVALID;
    result.verdict.valid = VERDICT_INVALID;
    assert_int_equal(outcome_of(oversell, &result), RUN_BROKEN);
    assert_int_equal(outcome_of(per_user, &result), RUN_WRONG);
    result.verdict.findings[AUDIT_OVERSOLD].valid = VERDICT_VALID;
    result.verdict.findings[AUDIT_DUPLICATE].valid = VERDICT_INVALID;
    assert_int_equal(outcome_of(per_user, &result), RUN_BROKEN);
}

TEST(a_phantom_is_never_excused)
{
    struct run_result result = {.hazard = HAZARD_OVER};

    result.verdict.valid = VERDICT_INVALID;
    result.verdict.findings[AUDIT_OVERSOLD].valid = VERDICT_INVALID;
    result.verdict.findings[AUDIT_TOLD_NOT_THERE].valid = VERDICT_INVALID;
    assert_int_equal(outcome_of(experiment_find("oversell"), &result), RUN_WRONG);
}

TEST(unknown_and_missed_are_no_passes)
{
    struct run_result result = {.hazard = HAZARD_OVER};

    result.verdict.valid = VERDICT_UNKNOWN;
    assert_int_equal(outcome_of(experiment_find("oversell"), &result), RUN_UNKNOWN);
    result.verdict.valid = VERDICT_VALID;
    result.hazard = HAZARD_MISSED;
    assert_int_equal(outcome_of(experiment_find("oversell"), &result), RUN_UNKNOWN);
}

static struct run_result oversold(enum hazard_state hazard)
{
    struct run_result result = {.hazard = hazard};

    result.verdict.valid = VERDICT_INVALID;
    result.verdict.findings[AUDIT_OVERSOLD].valid = VERDICT_INVALID;
    return result;
}

TEST(a_violation_counts_whatever_the_hazard_came_to)
{
    const struct experiment *oversell = experiment_find("oversell");
    struct run_result missed = oversold(HAZARD_MISSED), failed = oversold(HAZARD_FAILED);
    struct run_result died = oversold(HAZARD_OVER);

    assert_int_equal(outcome_of(oversell, &missed), RUN_BROKEN);
    assert_int_equal(outcome_of(oversell, &failed), RUN_BROKEN);
    snprintf(died.reason, sizeof died.reason, "seckilld (p1) died");
    assert_int_equal(outcome_of(oversell, &died), RUN_BROKEN);
    died.verdict.findings[AUDIT_TOLD_NOT_THERE].valid = VERDICT_INVALID;
    assert_int_equal(outcome_of(oversell, &died), RUN_WRONG);
}

/* A hazard that holds a thread until its lease is over has broken the lock itself. */
TEST(a_thread_that_was_held_too_long_shows_nothing)
{
    struct run_result late = oversold(HAZARD_LATE);

    assert_int_equal(outcome_of(experiment_find("oversell"), &late), RUN_UNKNOWN);
    late.verdict.findings[AUDIT_TOLD_NOT_THERE].valid = VERDICT_INVALID;
    assert_int_equal(outcome_of(experiment_find("oversell"), &late), RUN_WRONG);
}

TEST(a_run_in_which_a_process_died_is_unknown)
{
    struct run_result result = {.hazard = HAZARD_OVER, .reason = "seckilld (p1) died"};

    assert_int_equal(outcome_of(experiment_find("oversell"), &result), RUN_UNKNOWN);
}

TEST(a_sale_of_one_process_shows_nothing_of_a_lock_between_two)
{
    const struct experiment *oversell = experiment_find("oversell");
    struct run_result result = {
        .hazard = HAZARD_OVER, .processes = 2, .processes_at_work = 1};

    assert_int_equal(outcome_of(oversell, &result), RUN_UNKNOWN);
    result.processes_at_work = 2;
    assert_int_equal(outcome_of(oversell, &result), RUN_SOUND);
    result.processes = 3;
    assert_int_equal(outcome_of(oversell, &result), RUN_SOUND);
    result.processes = result.processes_at_work = 1;
    assert_int_equal(outcome_of(oversell, &result), RUN_SOUND);
    result = oversold(HAZARD_OVER);
    result.processes = 2;
    assert_int_equal(outcome_of(oversell, &result), RUN_BROKEN);
}

TEST(a_fence_that_refused_nothing_shows_nothing)
{
    const struct experiment *fencing = experiment_find("fencing");
    struct cell cell = {.experiment = fencing, .needs_late_write = true};
    struct run_result result = {.hazard = HAZARD_OVER};
    char why[WHY_MAX];

    assert_true(experiment_needs_late_write(fencing, "fenced", &hazard_freeze, ORDER_PATH_each));
    assert_false(experiment_needs_late_write(fencing, "fenced", &hazard_slow, ORDER_PATH_each));
    assert_false(experiment_needs_late_write(fencing, "lua", &hazard_freeze, ORDER_PATH_each));
    assert_false(experiment_needs_late_write(experiment_find("oversell"), "fenced",
                                             &hazard_freeze, ORDER_PATH_each));
    assert_int_equal(run_outcome_of(&cell, &result, why), RUN_UNKNOWN);
    assert_string_equal(why, "the fence refused no late write");
    result.refused_late = 1;
    assert_int_equal(run_outcome_of(&cell, &result, why), RUN_SOUND);
}

static enum cell_outcome outcome(enum cell_expectation expected, enum run_outcome a,
                                 enum run_outcome b, enum run_outcome c)
{
    struct cell cell = {.expected = expected, .run_count = 3};

    cell.runs[0].outcome = a;
    cell.runs[1].outcome = b;
    cell.runs[2].outcome = c;
    return cell_outcome_of(&cell);
}

TEST(every_run_of_a_cell_must_be_as_expected)
{
    assert_int_equal(outcome(EXPECT_SOUND, RUN_SOUND, RUN_SOUND, RUN_SOUND),
                     CELL_AS_EXPECTED);
    assert_int_equal(outcome(EXPECT_BROKEN, RUN_BROKEN, RUN_BROKEN, RUN_BROKEN),
                     CELL_AS_EXPECTED);
    assert_int_equal(outcome(EXPECT_SOUND, RUN_SOUND, RUN_BROKEN, RUN_SOUND),
                     CELL_UNEXPECTED);
    assert_int_equal(outcome(EXPECT_BROKEN, RUN_BROKEN, RUN_SOUND, RUN_BROKEN),
                     CELL_UNEXPECTED);
    assert_int_equal(outcome(EXPECT_BROKEN, RUN_WRONG, RUN_BROKEN, RUN_BROKEN),
                     CELL_UNEXPECTED);
    assert_int_equal(outcome(EXPECT_SOUND, RUN_SOUND, RUN_UNKNOWN, RUN_SOUND),
                     CELL_UNKNOWN);
    assert_int_equal(outcome(EXPECT_SOUND, RUN_UNKNOWN, RUN_BROKEN, RUN_SOUND),
                     CELL_UNEXPECTED);
    assert_int_equal(outcome(EXPECT_SOUND, RUN_SOUND, RUN_NOT_DONE, RUN_NOT_DONE),
                     CELL_NOT_DONE);
}

TEST(a_lock_without_an_expectation_is_never_as_expected)
{
    assert_int_equal(outcome(EXPECT_NOTHING, RUN_SOUND, RUN_SOUND, RUN_SOUND),
                     CELL_NO_EXPECTATION);
    assert_int_equal(outcome(EXPECT_NOTHING, RUN_SOUND, RUN_BROKEN, RUN_SOUND),
                     CELL_NO_EXPECTATION);
    assert_int_equal(outcome(EXPECT_NOTHING, RUN_SOUND, RUN_UNKNOWN, RUN_SOUND),
                     CELL_UNKNOWN);
    assert_int_equal(outcome(EXPECT_NOTHING, RUN_SOUND, RUN_NOT_DONE, RUN_NOT_DONE),
                     CELL_NOT_DONE);
    assert_int_equal(outcome(EXPECT_NOTHING, RUN_SOUND, RUN_WRONG, RUN_SOUND),
                     CELL_UNEXPECTED);
    assert_int_equal(outcome(EXPECT_EITHER, RUN_SOUND, RUN_BROKEN, RUN_SOUND),
                     CELL_AS_EXPECTED);
}

static enum exit_code exit_code_of(enum cell_expectation expected, enum run_outcome outcome_of_run)
{
    struct cell cells[2] = {
        {.expected = EXPECT_SOUND, .run_count = 1, .runs[0].outcome = RUN_SOUND},
        {.expected = expected, .run_count = 1, .runs[0].outcome = outcome_of_run},
    };
    struct comparison c = {
        .experiment_count = 1, .hazard_count = 1, .lock_count = 2, .cells = cells};

    return comparison_exit_code(&c);
}

TEST(only_a_comparison_without_a_doubt_exits_with_0)
{
    assert_int_equal(exit_code_of(EXPECT_BROKEN, RUN_BROKEN), EXIT_VALID);
    assert_int_equal(exit_code_of(EXPECT_BROKEN, RUN_SOUND), EXIT_INVALID);
    assert_int_equal(exit_code_of(EXPECT_BROKEN, RUN_UNKNOWN), EXIT_UNKNOWN);
    assert_int_equal(exit_code_of(EXPECT_NOTHING, RUN_BROKEN), EXIT_UNKNOWN);
    assert_int_equal(exit_code_of(EXPECT_NOTHING, RUN_SOUND), EXIT_UNKNOWN);
    assert_int_equal(exit_code_of(EXPECT_NOTHING, RUN_WRONG), EXIT_INVALID);
}
