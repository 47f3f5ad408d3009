/* SPDX-License-Identifier: MIT */
/* test_trace.c -- traceparent is read by the rules of W3C's Trace Context. */
#include <string.h>

#include "base/text/trace.h"
#include "tests/registered.h"

#define TRACE "4bf92f3577b34da6a3ce929d0e0e4736"
#define SPAN "00f067aa0ba902b7"

TEST(a_valid_value_is_read)
{
    static const struct {
        const char *value;
        bool is_sampled;
    } GOOD[] = {
        {"00-" TRACE "-" SPAN "-01", true},
        {"00-" TRACE "-" SPAN "-00", false},
        {"00-" TRACE "-" SPAN "-ff", true},  /* flags that this version does not know */
        {"00-" TRACE "-" SPAN "-0a", false},
        {"01-" TRACE "-" SPAN "-01", true},  /* a later version, with no more fields */
        {"cc-" TRACE "-" SPAN "-01-what the future will be like", true},
        {"cc-" TRACE "-" SPAN "-01-", true},
    };

    for (size_t i = 0; i < sizeof(GOOD) / sizeof(GOOD[0]); i++) {
        struct trace trace = {0};

        if (!trace_parse(GOOD[i].value, &trace))
            fail_msg("%s is refused", GOOD[i].value);
        assert_string_equal(trace.trace_id, TRACE);
        assert_string_equal(trace.span_id, SPAN);
        assert_true(trace.is_sampled == GOOD[i].is_sampled);
    }
}

TEST(an_invalid_value_is_refused)
{
    static const char *const BAD[] = {
        "",
        "00",
        "00-",
        "ff-" TRACE "-" SPAN "-01",
        "00-" TRACE "-" SPAN,
        "00-" TRACE "-" SPAN "-",
        "00-" TRACE "-" SPAN "-1",
        "00-" TRACE "-" SPAN "-0g",
        "00-" TRACE "-" SPAN "-0A",
        "00-" TRACE "-" SPAN "-01-",
        "00-" TRACE "-" SPAN "-01 ",
        "00-" TRACE "-" SPAN "-01-more",
        "cc-" TRACE "-" SPAN "-01.more",
        "0-" TRACE "-" SPAN "-01",
        "000-" TRACE "-" SPAN "-01",
        ".0-" TRACE "-" SPAN "-01",
        "0X-" TRACE "-" SPAN "-01",
        "00-00000000000000000000000000000000-" SPAN "-01",
        "00-" TRACE "-0000000000000000-01",
        "00-4BF92F3577B34DA6A3CE929D0E0E4736-" SPAN "-01",
        "00-4bf92f3577b34da6a3ce929d0e0e473-" SPAN "-01",
        "00-4bf92f3577b34da6a3ce929d0e0e47361-" SPAN "-01",
        "00-4bf92f3577b34da6a3ce929d0e0e473-0" SPAN "-01",
        "00-" TRACE "_" SPAN "-01",
        " 00-" TRACE "-" SPAN "-01",
    };

    for (size_t i = 0; i < sizeof(BAD) / sizeof(BAD[0]); i++) {
        struct trace trace = {.trace_id = "as it was"};

        if (trace_parse(BAD[i], &trace))
            fail_msg("\"%s\" is accepted", BAD[i]);
        assert_string_equal(trace.trace_id, "as it was");
    }
}

TEST(a_new_span_belongs_to_the_same_trace)
{
    struct trace trace, again;
    char value[TRACE_HEADER_LEN + 1];

    assert_true(trace_parse("00-" TRACE "-" SPAN "-01", &trace));
    trace_enter_span(&trace);
    assert_string_not_equal(trace.span_id, SPAN);
    trace_format(&trace, value);
    assert_int_equal(strlen(value), TRACE_HEADER_LEN);
    assert_true(trace_parse(value, &again));
    assert_string_equal(again.trace_id, TRACE);
    assert_string_equal(again.span_id, trace.span_id);
    assert_true(again.is_sampled);
}
