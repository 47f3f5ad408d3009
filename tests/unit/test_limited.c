/* SPDX-License-Identifier: MIT */
/* test_limited.c -- a repeated event is logged a few times a second, and the others are counted: by
 * the next line of their kind, when their second is over, and at the end of the process. */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/os/clock.h"
#include "base/text/log.h"
#include "tests/registered.h"

enum { HOUR_MS = 3600000 };

TEST(the_first_events_of_each_span_pass)
{
    struct limited limit = {0};

    for (int span = 0; span < 2; span++) {
        limit.next_ns = 0; /* the hour is over */
        for (int i = 0; i < 3; i++)
            assert_true(limited_pass(&limit, 3, HOUR_MS));
        for (int i = 0; i < 2; i++)
            assert_false(limited_pass(&limit, 3, HOUR_MS));
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

static void fail_often(void)
{
    for (int i = 1; i <= 1000; i++)
        LIMITED_ERROR("event %d.", i);
}

/* A thousand lines take much less than a second, but the machine may be busy. */
TEST(the_first_errors_keep_their_details)
{
    char text[65536];
    int64_t begin_ns = dlock_clock_ns();
    int64_t seconds, lines = 0;

    catch_log(fail_often, text, sizeof(text));
    seconds = (dlock_clock_ns() - begin_ns) / 1000000000;
    for (const char *at = text; (at = strstr(at, "error event ")) != NULL; at++)
        lines++;
    assert_in_range(lines, LIMITED_SOME, LIMITED_SOME * (seconds + 2));
    assert_non_null(strstr(text, "error event 1.\n"));
}

static void warn_twice(void)
{
    static struct limited limit;

    for (int i = 0; i < 5; i++)
        limited_line(&limit, LOG_WARN, 1, "a kind");
    limit.next_ns = 0; /* the second is over */
    limited_line(&limit, LOG_WARN, 1, "a kind");
    limit.next_ns = INT64_MAX;
    for (int i = 0; i < 7; i++)
        limited_line(&limit, LOG_WARN, 1, "a kind");
    limited_tell(false); /* its second is not over */
}

static void tell_at_the_end(void)
{
    log_set_format(LOG_JSON);
    limited_tell(true);
    limited_tell(true);
    log_set_format(LOG_TEXT);
}

TEST(no_event_is_lost_when_no_other_follows)
{
    char text[4096], end[4096];

    catch_log(warn_twice, text, sizeof(text));
    assert_non_null(strstr(text, "warn  a kind\n"));
    assert_non_null(strstr(text, "warn  4 more like it: a kind count=4\n"));
    catch_log(tell_at_the_end, end, sizeof(end));
    assert_non_null(strstr(end, "\"message\":\"7 more like it: a kind\",\"count\":7}\n"));
    assert_null(strstr(strstr(end, "7 more") + 1, "7 more"));
}
