/* SPDX-License-Identifier: MIT */
/* test_limited.c -- a repeated event is logged a few times a second, and the rest is counted. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/text/limited.h"

enum { HOUR_MS = 3600000 };

static void one_event_passes_and_the_next_one_counts_the_others(void **state)
{
    struct limited limit = {0};
    uint64_t skipped = 99;

    (void)state;
    assert_true(limited_pass(&limit, HOUR_MS, &skipped));
    assert_int_equal(skipped, 0);
    for (int i = 0; i < 5; i++)
        assert_false(limited_pass(&limit, HOUR_MS, &skipped));
    limit.next_ns = 0; /* the hour is over */
    assert_true(limited_pass(&limit, HOUR_MS, &skipped));
    assert_int_equal(skipped, 5);
}

static void the_first_events_of_each_span_pass(void **state)
{
    struct limited limit = {0};
    uint64_t skipped = 99;

    (void)state;
    for (int span = 0; span < 2; span++) {
        limit.next_ns = 0;
        for (int i = 0; i < 3; i++) {
            assert_true(limited_pass_some(&limit, 3, HOUR_MS, &skipped));
            assert_int_equal(skipped, span == 1 && i == 0 ? 2 : 0);
        }
        for (int i = 0; i < 2; i++)
            assert_false(limited_pass_some(&limit, 3, HOUR_MS, &skipped));
    }
}

/* Call the function with standard error going to a file.  `text` gets its content. */
static void catch_log(void (*function)(void), char *text, size_t size)
{
    FILE *file = tmpfile();
    int kept = dup(STDERR_FILENO);

    assert_non_null(file);
    assert_true(kept >= 0);
    (void)dup2(fileno(file), STDERR_FILENO);
    function();
    (void)dup2(kept, STDERR_FILENO);
    (void)close(kept);
    rewind(file);
    text[fread(text, 1, size - 1, file)] = '\0';
    (void)fclose(file);
}

static void warn_once(void)
{
    LIMITED_WARN("event %d", 1);
}

static void a_line_without_skipped_events_has_no_count(void **state)
{
    char text[256], more[LIMITED_MORE_SIZE];

    (void)state;
    catch_log(warn_once, text, sizeof(text));
    assert_non_null(strstr(text, "warn  event 1\n"));
    assert_string_equal(limited_more(0, more), "");
    assert_string_equal(limited_more(UINT64_MAX, more),
                        " (18446744073709551615 more like it)");
}

static void fail_often(void)
{
    for (int i = 1; i <= 1000; i++)
        LIMITED_ERROR("event %d", i);
}

/* A thousand lines take much less than a second, but the machine may be busy. */
static void the_first_errors_keep_their_details(void **state)
{
    char text[65536];
    int64_t begin_ns = monotonic_ns();
    int64_t seconds, lines = 0;

    (void)state;
    catch_log(fail_often, text, sizeof(text));
    seconds = (monotonic_ns() - begin_ns) / 1000000000;
    for (const char *at = text; (at = strchr(at, '\n')) != NULL; at++)
        lines++;
    assert_in_range(lines, LIMITED_SOME, LIMITED_SOME * (seconds + 2));
    assert_non_null(strstr(text, "error event 1\n"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_event_passes_and_the_next_one_counts_the_others),
        cmocka_unit_test(the_first_events_of_each_span_pass),
        cmocka_unit_test(a_line_without_skipped_events_has_no_count),
        cmocka_unit_test(the_first_errors_keep_their_details),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
