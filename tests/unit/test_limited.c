/* SPDX-License-Identifier: MIT */
/* test_limited.c -- a repeated event is logged a few times a second, and the rest is counted. */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/text/limited.h"
#include "tests/registered.h"

enum { HOUR_MS = 3600000 };

TEST(one_event_passes_and_the_next_one_counts_the_others)
{
    struct limited limit = {0};
    uint64_t skipped = 99;

    assert_true(limited_pass(&limit, HOUR_MS, &skipped));
    assert_int_equal(skipped, 0);
    for (int i = 0; i < 5; i++)
        assert_false(limited_pass(&limit, HOUR_MS, &skipped));
    limit.next_ns = 0; /* the hour is over */
    assert_true(limited_pass(&limit, HOUR_MS, &skipped));
    assert_int_equal(skipped, 5);
}

TEST(the_first_events_of_each_span_pass)
{
    struct limited limit = {0};
    uint64_t skipped = 99;

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

TEST(a_line_without_skipped_events_has_no_count)
{
    char text[256], more[LIMITED_MORE_SIZE];

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
TEST(the_first_errors_keep_their_details)
{
    char text[65536];
    int64_t begin_ns = monotonic_ns();
    int64_t seconds, lines = 0;

    catch_log(fail_often, text, sizeof(text));
    seconds = (monotonic_ns() - begin_ns) / 1000000000;
    for (const char *at = text; (at = strchr(at, '\n')) != NULL; at++)
        lines++;
    assert_in_range(lines, LIMITED_SOME, LIMITED_SOME * (seconds + 2));
    assert_non_null(strstr(text, "error event 1\n"));
}
