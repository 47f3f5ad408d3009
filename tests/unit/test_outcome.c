/* SPDX-License-Identifier: MIT */
/* test_outcome.c -- the list of outcomes is complete. */
#include <string.h>

#include "app/outcome.h"
#include "tests/registered.h"

TEST(every_outcome_is_complete)
{
    for (int i = 0; i < OUTCOME_COUNT; i++) {
        const struct outcome_info *info = outcome_info((enum outcome)i);

        assert_true(strspn(info->name, "abcdefghijklmnopqrstuvwxyz-") ==
                    strlen(info->name));
        assert_true(info->name[0] != '\0' && info->title[0] != '\0');
        assert_in_range(info->status, 200, 599);
        /* The course face has 200 for a refusal of the sale; all other statuses are the same in
         * both faces. */
        assert_true(info->course_status == 200 || info->course_status == info->status);
        for (int j = 0; j < i; j++)
            assert_string_not_equal(info->name, outcome_info((enum outcome)j)->name);
    }
}

TEST(what_passes_says_so)
{
    assert_true(outcome_is_passing(OUTCOME_LOCK_BUSY));
    assert_true(outcome_is_passing(OUTCOME_ADMISSION_FULL));
    assert_true(outcome_is_passing(OUTCOME_ADDRESS_FULL));
    assert_true(outcome_is_passing(OUTCOME_STALE));
    assert_true(outcome_is_passing(OUTCOME_UNAVAILABLE));
    assert_true(outcome_is_passing(OUTCOME_DATABASE_BUSY));
    assert_true(outcome_is_passing(OUTCOME_UNKNOWN));
    assert_true(outcome_is_passing(OUTCOME_QUEUE_FULL));
    assert_false(outcome_is_passing(OUTCOME_QUEUED));
    assert_false(outcome_is_passing(OUTCOME_SOLD_OUT));
    assert_false(outcome_is_passing(OUTCOME_ACCEPTED));
}

/* An alert or an objective on 5xx must not count what clients do, nor miss what the service fails
 * to do, on either face. */
TEST(only_a_failure_of_the_service_is_a_5xx)
{
    static const enum outcome FAILURES[] = {
        OUTCOME_STALE,   OUTCOME_UNAVAILABLE,     OUTCOME_DATABASE_BUSY, OUTCOME_QUEUE_FULL,
        OUTCOME_UNKNOWN, OUTCOME_VOUCHER_UNKNOWN, OUTCOME_INTERNAL,
    };

    for (int i = 0; i < OUTCOME_COUNT; i++) {
        const struct outcome_info *info = outcome_info((enum outcome)i);
        bool fails = false;

        for (size_t f = 0; f < sizeof(FAILURES) / sizeof(FAILURES[0]); f++)
            fails = fails || FAILURES[f] == (enum outcome)i;
        assert_true(fails == (info->status >= 500));
        assert_true(fails == (info->course_status >= 500));
        assert_true(fails == outcome_is_failure((enum outcome)i));
    }
    assert_int_equal(outcome_info(OUTCOME_LOCK_BUSY)->status, 409);
    assert_int_equal(outcome_info(OUTCOME_LOCK_BUSY)->course_status, 200);
}

TEST(the_names_that_scripts_rely_on)
{
    assert_string_equal(outcome_info(OUTCOME_ACCEPTED)->name, "accepted");
    assert_string_equal(outcome_info(OUTCOME_SOLD_OUT)->name, "sold-out");
    assert_string_equal(outcome_info(OUTCOME_DUPLICATE)->name, "duplicate");
    assert_string_equal(outcome_info(OUTCOME_LOCK_BUSY)->name, "lock-busy");
    assert_string_equal(outcome_info(OUTCOME_UNKNOWN)->name, "unknown");
}
