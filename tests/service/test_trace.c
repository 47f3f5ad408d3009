/* SPDX-License-Identifier: MIT */
/* test_trace.c -- a request with a trace gets a span, which is in its answer and in the log. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <jansson.h>

#include "tests/service/rig.h"

#define TRACE "4bf92f3577b34da6a3ce929d0e0e4736"
#define SPAN "00f067aa0ba902b7"
#define PARENT "traceparent: 00-" TRACE "-" SPAN "-01\r\n"
#define ANSWER "\r\ntraceresponse: 00-" TRACE "-"

enum { SPAN_LEN = 16 };

static struct rig_service service;
static struct rig_answer answer;

/* Order with these header lines; a trace does not change the sale. */
static void order(int64_t voucher, int64_t user, const char *lines)
{
    char path[80], extra[2048], token[512];

    rig_token(user, token);
    (void)snprintf(path, sizeof(path), "/api/v1/vouchers/%lld/orders", (long long)voucher);
    (void)snprintf(extra, sizeof(extra), "authorization: %s\r\n%s", token, lines);
    assert_true(rig_request(service.orders_port, "POST", path, extra, NULL, &answer));
    assert_int_equal(answer.status, 201);
}

/* The span in the answer's trace. */
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

/* The log must have the span between these words. */
static void assert_logged(const char *before, const char *span, const char *after)
{
    char words[256];

    (void)snprintf(words, sizeof(words), "%s%s%s", before, span, after);
    if (!rig_has_logged(&service, words))
        fail_msg("the log does not say %s", words);
}

TEST(each_request_of_a_trace_has_a_span)
{
    int64_t voucher = rig_voucher(5);
    char first[SPAN_LEN + 1], second[SPAN_LEN + 1];

    service = RIG_START("--log-level=debug");
    order(voucher, 1, PARENT);
    read_span(first);
    order(voucher, 2, "TraceParent: 00-" TRACE "-" SPAN "-01\r\ntracestate: a=b\r\n");
    read_span(second);
    assert_string_not_equal(first, SPAN);
    assert_string_not_equal(first, second);
    assert_logged("was answered 201 accepted voucher=", "", "");
    assert_logged(" trace_id=" TRACE " span_id=", first, "\n");
    assert_logged(" trace_id=" TRACE " span_id=", second, "\n");
    assert_true(rig_request(service.orders_port, "GET", "/nowhere", PARENT, NULL, &answer));
    assert_int_equal(answer.status, 404);
    read_span(first);
    rig_stop(&service);
}

TEST(a_trace_is_in_the_objects_of_the_log)
{
    char span[SPAN_LEN + 1];

    service = RIG_START("--log-level=debug", "--log-format=json");
    order(rig_voucher(5), 1, PARENT);
    read_span(span);
    assert_logged(",\"trace_id\":\"" TRACE "\",\"span_id\":\"", span, "\"}\n");
    rig_stop(&service);
}

TEST(a_trace_that_is_invalid_is_none)
{
    static const char *const LINES[] = {
        "",
        "traceparent:\r\n",
        "traceparent: hello\r\n",
        "traceparent: ff-" TRACE "-" SPAN "-01\r\n",
        "traceparent: 00-" TRACE "-0000000000000000-01\r\n",
        "traceparent: 00-00000000000000000000000000000000-" SPAN "-01\r\n",
        "traceparent: 00-4BF92F3577B34DA6A3CE929D0E0E4736-" SPAN "-01\r\n",
        "traceparent: 00-" TRACE "-" SPAN "-0\r\n",
        "traceparent: 00-" TRACE "0-" SPAN "-01\r\n",
        "traceparent: 00-" TRACE "-" SPAN "-01-more\r\n",
        "traceparent: 00-" TRACE "-" SPAN "-01, 00-" TRACE "-" SPAN "-01\r\n",
        PARENT PARENT,
        "tracestate: a=b\r\n",
    };
    int64_t voucher = rig_voucher(30);
    char longer[1600];

    service = RIG_START("--log-level=debug");
    for (size_t i = 0; i < sizeof(LINES) / sizeof(LINES[0]); i++) {
        order(voucher, (int64_t)i + 1, LINES[i]);
        assert_null(strstr(answer.head, "traceresponse"));
    }
    (void)snprintf(longer, sizeof(longer), "traceparent: 00-%01400d\r\n", 1);
    order(voucher, 29, longer);
    assert_null(strstr(answer.head, "traceresponse"));
    assert_false(rig_has_logged(&service, "trace_id"));
    rig_stop(&service);
}

/* ---- hostile headers ---- */

/* Bytes that must occur in no output. */
#define EVIL "evil"

/* Each line must be one of the service, and must contain nothing that a client sent. */
static void assert_log_is_clean(bool is_json)
{
    char *text = NULL, *rest;
    size_t size = 0;
    FILE *file = fopen(service.log, "re");

    assert_non_null(file);
    assert_true(getdelim(&text, &size, '\0', file) > 0);
    assert_int_equal(fclose(file), 0);
    assert_null(strstr(text, EVIL));
    rest = text;
    for (char *line; (line = strsep(&rest, "\n")) != NULL && *line != '\0';) {
        json_t *object = is_json ? json_loads(line, 0, NULL) : NULL;
        int date = 0;

        if (is_json ? !json_is_object(object)
                    : sscanf(line, "%d-%*d-%*dT%*d:%*d:%*fZ", &date) != 1 || date < 2000)
            fail_msg("a line of the log is none of the service's: %s", line);
        json_decref(object);
    }
    free(text);
}

/* Send an order with these bytes among the lines of its head. It is accepted, or refused as a
 * malformed request. */
static void order_hostile(int64_t voucher, int64_t user, const char *lines, int status)
{
    static char text[16384];
    char token[TOKEN_LEN + 1];
    int fd = rig_connect(service.orders_port);
    int length;

    rig_token(user, token);
    length = snprintf(text, sizeof(text),
                      "POST /api/v1/vouchers/%lld/orders HTTP/1.1\r\nHost: localhost\r\n"
                      "authorization: %s\r\n%s\r\n", (long long)voucher, token, lines);
    assert_true(length > 0 && (size_t)length < sizeof(text));
    assert_true(fd >= 0);
    assert_true(rig_send(fd, text, (size_t)length));
    if (!rig_read(fd, &answer, RIG_PATIENCE_MS))
        fail_msg("no answer after %s", lines);
    (void)close(fd);
    if (answer.status != status)
        fail_msg("%d instead of %d after %s", answer.status, status, lines);
    assert_null(strstr(answer.head, EVIL));
    assert_null(strstr(answer.body, EVIL));
}

static const struct {
    const char *lines;
    int status;
} HOSTILE[] = {
    {"traceparent: 00-" TRACE "-" SPAN "-01\",\"" EVIL "\":\"\r\n", 201},
    {"traceparent: 00-" TRACE "-" SPAN "-01\\" EVIL "\r\n", 201},
    {"traceparent: %s%n%999999d" EVIL "\r\n", 201},
    {"traceparent: \xff\xfe\xc0\x80" EVIL "\r\n", 201},
    {"tracestate: " EVIL "=\"},{\"\r\n", 201},
    /* A later version may have more fields after the flags: the trace is used, and the rest is
     * dropped. */
    {"traceparent: 01-" TRACE "-" SPAN "-01-" EVIL "\"}\r\n", 201},
    {"traceparent: 00-" TRACE "-" SPAN "-01\n" EVIL "\r\n", 400},
    {"traceparent: 00-" TRACE "-" SPAN "-01\r" EVIL "\r\n", 400},
    {"traceparent: 00-" TRACE "-" SPAN "-01\r\n " EVIL "\r\n", 400},
    {"traceparent: 00-" TRACE "-" SPAN "-01\x1b[31m" EVIL "\r\n", 400},
    {"traceparent : 00-" TRACE "-" SPAN "-01\r\n", 400},
};

static void send_all_hostile(const char *format)
{
    enum { COUNT = sizeof(HOSTILE) / sizeof(HOSTILE[0]) };
    static char longer[12000];
    int64_t voucher = rig_voucher(2 * COUNT);

    service = RIG_START("--log-level=debug", format);
    for (size_t i = 0; i < COUNT; i++)
        order_hostile(voucher, (int64_t)i + 1, HOSTILE[i].lines, HOSTILE[i].status);
    (void)snprintf(longer, sizeof(longer), "traceparent: %010000d" EVIL "\r\n", 1);
    order_hostile(voucher, COUNT + 1, longer, 431);
    (void)snprintf(longer, sizeof(longer), "tracestate: a=%010000d" EVIL "\r\n", 1);
    order_hostile(voucher, COUNT + 2, longer, 431);
    (void)snprintf(longer, sizeof(longer), "tracestate: a=%07000d" EVIL "\r\n", 1);
    order_hostile(voucher, COUNT + 3, longer, 201);
    assert_log_is_clean(strstr(format, "json") != NULL);
    rig_stop(&service);
}

TEST(hostile_headers_reach_neither_log_nor_answer)
{
    send_all_hostile("--log-format=text");
    send_all_hostile("--log-format=json");
}
