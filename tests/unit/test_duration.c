/* SPDX-License-Identifier: MIT */
/* test_duration.c -- durations are parsed strictly, and printed in their shortest form. */
#include "base/text/duration.h"
#include "tests/registered.h"

static int64_t parsed(const char *text)
{
    int64_t ms = -1;

    return duration_parse(text, &ms) ? ms : -1;
}

TEST(every_unit_is_understood)
{
    assert_int_equal(parsed("250ms"), 250);
    assert_int_equal(parsed("2s"), 2000);
    assert_int_equal(parsed("5m"), 300000);
    assert_int_equal(parsed("1h"), 3600000);
    assert_int_equal(parsed("0"), 0);
    assert_int_equal(parsed("0ms"), 0);
}

TEST(a_text_that_is_no_duration_is_refused)
{
    static const char *const BAD[] = {"",   "5",    "ms",  "-1s",  "+1s", " 1s",
                                      "1 s", "1.5s", "1sec", "1s ", "s1",  "0x1s"};

    for (size_t i = 0; i < sizeof BAD / sizeof BAD[0]; i++)
        assert_int_equal(parsed(BAD[i]), -1);
}

TEST(a_duration_out_of_range_is_refused)
{
    assert_int_equal(parsed("9223372036854775807ms"), -1);
    assert_int_equal(parsed("99999999999999999999s"), -1);
    assert_int_equal(parsed("9223372036854775h"), -1);
    assert_int_equal(parsed("922337203685477580ms"), 922337203685477580);
}

TEST(formatting_uses_the_largest_unit_that_loses_nothing)
{
    char text[32];

    assert_string_equal(duration_format(1500, text, sizeof text), "1500ms");
    assert_string_equal(duration_format(30000, text, sizeof text), "30s");
    assert_string_equal(duration_format(60000, text, sizeof text), "1m");
    assert_string_equal(duration_format(7200000, text, sizeof text), "2h");
    assert_string_equal(duration_format(0, text, sizeof text), "0ms");
}
