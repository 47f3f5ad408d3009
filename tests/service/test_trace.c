/* SPDX-License-Identifier: MIT */
/* test_trace.c -- a request that brings a trace gets a span, in its answer and in the log. */
#include <stdio.h>
#include <string.h>

#include "tests/service/rig.h"

#define TRACE "4bf92f3577b34da6a3ce929d0e0e4736"
#define SPAN "00f067aa0ba902b7"
#define PARENT "traceparent: 00-" TRACE "-" SPAN "-01\r\n"
#define ANSWER "\r\ntraceresponse: 00-" TRACE "-"

enum { SPAN_LEN = 16 };

static struct rig_service service;
static struct rig_answer answer;

/* Order with these header lines; a trace changes nothing about the sale. */
static void order(int64_t voucher, int64_t user, const char *lines)
{
    char path[80], extra[2048], token[512];

    rig_token(user, token);
    (void)snprintf(path, sizeof(path), "/api/v1/vouchers/%lld/orders", (long long)voucher);
    (void)snprintf(extra, sizeof(extra), "authorization: %s\r\n%s", token, lines);
    assert_true(rig_request(service.orders_port, "POST", path, extra, NULL, &answer));
    assert_int_equal(answer.status, 201);
}

/* The span of the answer's trace. */
static void read_span(char span[SPAN_LEN + 1])
{
    const char *at = strstr(answer.head, ANSWER);

    if (at == NULL)
        fail_msg("the answer has no trace: %s", answer.head);
    at += strlen(ANSWER);
    assert_int_equal(strspn(at, "0123456789abcdef"), SPAN_LEN);
    assert_memory_equal(at + SPAN_LEN, "-01\r\n", 5);
    (void)snprintf(span, SPAN_LEN + 1, "%.*s", (int)SPAN_LEN, at);
}

/* The log has the span between these words. */
static void assert_logged(const char *before, const char *span, const char *after)
{
    char words[256];

    (void)snprintf(words, sizeof(words), "%s%s%s", before, span, after);
    if (!rig_has_logged(&service, words))
        fail_msg("the log does not say %s", words);
}

static void each_request_of_a_trace_has_a_span(void **state)
{
    int64_t voucher = rig_voucher(5);
    char first[SPAN_LEN + 1], second[SPAN_LEN + 1];

    (void)state;
    service = RIG_START("--log-level=debug");
    order(voucher, 1, PARENT);
    read_span(first);
    order(voucher, 2, "TraceParent: 00-" TRACE "-" SPAN "-01\r\ntracestate: a=b\r\n");
    read_span(second);
    assert_string_not_equal(first, SPAN);
    assert_string_not_equal(first, second);
    assert_logged("was answered 201 accepted trace_id=" TRACE " span_id=", first, "\n");
    assert_logged(" trace_id=" TRACE " span_id=", second, "\n");
    assert_true(rig_request(service.orders_port, "GET", "/nowhere", PARENT, NULL, &answer));
    assert_int_equal(answer.status, 404);
    read_span(first);
    rig_stop(&service);
}

static void a_trace_is_in_the_objects_of_the_log(void **state)
{
    char span[SPAN_LEN + 1];

    (void)state;
    service = RIG_START("--log-level=debug", "--log-format=json");
    order(rig_voucher(5), 1, PARENT);
    read_span(span);
    assert_logged("\",\"trace_id\":\"" TRACE "\",\"span_id\":\"", span, "\"}\n");
    rig_stop(&service);
}

static void a_trace_that_is_invalid_is_none(void **state)
{
    static const char *const LINES[] = {
        "",
        "traceparent:\r\n",
        "traceparent: hello\r\n",
        "traceparent: ff-" TRACE "-" SPAN "-01\r\n",
        "traceparent: 00-" TRACE "-0000000000000000-01\r\n",
        "traceparent: 00-" TRACE "-" SPAN "-01-more\r\n",
        PARENT PARENT,
        "tracestate: a=b\r\n",
    };
    int64_t voucher = rig_voucher(20);
    char longer[1600];

    (void)state;
    service = RIG_START("--log-level=debug");
    for (size_t i = 0; i < sizeof(LINES) / sizeof(LINES[0]); i++) {
        order(voucher, (int64_t)i + 1, LINES[i]);
        assert_null(strstr(answer.head, "traceresponse"));
    }
    (void)snprintf(longer, sizeof(longer), "traceparent: 00-%01400d\r\n", 1);
    order(voucher, 19, longer);
    assert_null(strstr(answer.head, "traceresponse"));
    assert_false(rig_has_logged(&service, "trace_id"));
    rig_stop(&service);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_request_of_a_trace_has_a_span),
        cmocka_unit_test(a_trace_is_in_the_objects_of_the_log),
        cmocka_unit_test(a_trace_that_is_invalid_is_none),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
