/* SPDX-License-Identifier: MIT */
/* test_scenario_outcome.c -- the outcome of a performance by its signs, and whether that outcome is
 * the expected one. */
#include <string.h>

#include "loadtest/scenario/judge.h"
#include "tests/registered.h"

TEST(what_did_not_happen_has_no_verdict)
{
    struct scenario_result result = {.rc = EXIT_VALID, .is_expected = true};

    assert_int_equal(scenario_verdict(&result), VERDICT_UNKNOWN);
    result.rc = EXIT_INVALID;
    assert_int_equal(scenario_verdict(&result), VERDICT_UNKNOWN);
    result.has_happened = true;
    assert_int_equal(scenario_verdict(&result), VERDICT_INVALID);
    result.rc = EXIT_VALID;
    assert_int_equal(scenario_verdict(&result), VERDICT_VALID);
    result.rc = EXIT_UNKNOWN;
    assert_int_equal(scenario_verdict(&result), VERDICT_UNKNOWN);
}

/* Is a performance with these signs as expected? */
static bool is_as_expected(enum scenario_outcome outcome, unsigned shows, unsigned breaks,
                           unsigned signs, const char *why)
{
    struct scenario_result result = {.signs = signs, .outcome = judge_outcome(signs, breaks)};
    const struct expectation expected = {.outcome = outcome, .shows = shows};
    bool ok = judge_compare(&result, &expected);

    assert_string_equal(result.why, why);
    return ok;
}

TEST(damage_is_never_expected_where_nothing_breaks)
{
    static const enum scenario_outcome sound[] = {SCENARIO_HOLDS, SCENARIO_WAITS,
                                                  SCENARIO_REFUSES, SCENARIO_DEAD};
    static const unsigned signs[] = {0, SIGN_LEASE_WAITED, SIGN_CALL_REFUSED, SIGN_DEAD_LOCK};
    static const struct {
        unsigned sign;
        const char *why;
    } damages[] = {
        {SIGN_OVERSOLD, "it was not to show: oversold"},
        {SIGN_LOST_UPDATE, "it was not to show: lost update"},
        {SIGN_DUPLICATE, "it was not to show: duplicate"},
        {SIGN_LOST_ORDER, "it was not to show: lost order"},
        {SIGN_UNDERSOLD, "it was not to show: undersold"},
        {SIGN_STALE_WRITE, "it was not to show: stale write"},
    };

    for (size_t i = 0; i < sizeof sound / sizeof sound[0]; i++) {
        assert_true(is_as_expected(sound[i], 0, SIGN_BROKEN_PROMISE, signs[i], ""));
        for (size_t j = 0; j < sizeof damages / sizeof damages[0]; j++)
            assert_false(is_as_expected(sound[i], 0, SIGN_BROKEN_PROMISE,
                                        signs[i] | damages[j].sign, damages[j].why));
    }
}

TEST(damage_that_is_expected_is_no_difference)
{
    assert_true(is_as_expected(SCENARIO_HOLDS, SIGN_UNDERSOLD, SIGN_TWO_HOLDERS, SIGN_UNDERSOLD,
                               ""));
    assert_true(is_as_expected(SCENARIO_BREAKS, 0, SIGN_DUPLICATE,
                               SIGN_DUPLICATE | SIGN_LOST_UPDATE, ""));
}

/* The field `breaks` alone judges the signs of the checker and of play(). */
TEST(signs_without_damage_may_be_there)
{
    assert_true(is_as_expected(SCENARIO_HOLDS, 0, SIGN_TWO_HOLDERS,
                               SIGN_OVERTAKEN | SIGN_HERD | SIGN_BROADCAST, ""));
    assert_false(is_as_expected(SCENARIO_HOLDS, 0, SIGN_TWO_HOLDERS, SIGN_TWO_HOLDERS,
                                "expected: holds"));
    assert_false(is_as_expected(SCENARIO_BREAKS, SIGN_OVERSOLD, SIGN_TWO_HOLDERS,
                                SIGN_TWO_HOLDERS, "it does not show: oversold"));
}
