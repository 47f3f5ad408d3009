/* SPDX-License-Identifier: MIT */
/* test_gate.c -- the gate as a function: a head in, a verdict out. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <string.h>

#include "app/gate.h"

enum { BUFFER = 16384 };

static char buffer[BUFFER];
static struct gate_header headers[100];

/* End the word at `p` with a NUL and answer what comes after it. */
static char *end_word(char *p, const char *stop)
{
    p += strcspn(p, stop);
    *p = '\0';
    return p + 1;
}

/* Split a head in place, as the server's parser does: it stops without a word at a line
 * that begins with a blank. */
static struct gate_verdict judge(const char *head)
{
    struct gate_request r = {.headers = headers};
    char *p = buffer;

    memset(buffer, 0, sizeof(buffer));
    memcpy(buffer, head, strlen(head));
    buffer[strlen(head) - 1] = '\0';
    r.method = p;
    p = end_word(p, " ");
    r.uri = p;
    p = end_word(p, " ");
    r.version = p + 5;
    p = end_word(p, "\r") + 1;
    p[-1] = '\0';
    while (*p > ' ' && strchr(p, ':') != NULL) {
        struct gate_header *h = &headers[r.header_count++];

        h->name = p;
        p += strcspn(p, ": ");
        while (*p == ' ')
            *p++ = '\0';
        *p++ = '\0';
        h->value = p += strspn(p, " ");
        p += strcspn(p, "\r\n");
        if (*p == '\r')
            *p++ = '\0';
        *p++ = '\0';
    }
    r.query = strchr(r.uri, '?');
    if (r.query != NULL)
        *(char *)(uintptr_t)r.query++ = '\0';
    return gate_check(&r);
}

static int status_of(const char *head)
{
    return judge(head).status;
}

static void plain_requests_are_let_in(void **state)
{
    struct gate_verdict v;

    (void)state;
    assert_int_equal(status_of("GET / HTTP/1.1\r\nHost: x\r\n\r\n"), 0);
    assert_int_equal(status_of("GET /a-b/c_d?e=%41&f HTTP/1.1\r\nHost:x\r\n\r\n"), 0);
    v = judge("POST /a HTTP/1.0\r\nHost: x\r\nContent-Length: 12\r\n"
              "Expect: 100-Continue\r\n\r\n");
    assert_int_equal(v.status, 0);
    assert_int_equal(v.body_bytes, 12);
    assert_true(v.has_length && v.expects_continue);
    v = judge("POST /a HTTP/1.1\r\nhost: x\r\nCONTENT-LENGTH: 0\r\n\r\n");
    assert_int_equal(v.status, 0);
    assert_true(v.has_length && v.body_bytes == 0);
}

static void what_could_be_read_in_two_ways_is_refused(void **state)
{
    static const char *const BAD[] = {
        "GET / HTTP/1.1\r\n\r\n",
        "GET / HTTP/1.1\r\nHost: x\r\nHost: y\r\n\r\n",
        "GET / HTTP/1.1\r\nHost : x\r\n\r\n",
        "GET / HTTP/1.1\r\nHost:\r\n\r\n",
        "GET / HTTP/1.1\r\nHost: x\r\nA: b\r\n c\r\n\r\n",
        "GET / HTTP/1.1\r\nHost: x\nA: b\r\n\r\n",
        "GET / HTTP/1.1\r\nHost: x\n\n",
        "GET / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n",
        "GET / HTTP/1.1\r\nHost: x\r\ntransfer-encoding:\r\n\r\n",
        "GET / HTTP/1.1\r\nHost: x\r\nContent-Length: 1\r\nContent-Length: 1\r\n\r\n",
        "GET / HTTP/1.1\r\nHost: x\r\nContent-Length: 0x1\r\n\r\n",
        "GET / HTTP/1.1\r\nHost: x\r\nContent-Length: 1 1\r\n\r\n",
        "GET / HTTP/1.1\r\nHost: x\r\nContent-Length:\r\n\r\n",
        "GET a HTTP/1.1\r\nHost: x\r\n\r\n",
        "GET http://x/ HTTP/1.1\r\nHost: x\r\n\r\n",
        "GET /a%41 HTTP/1.1\r\nHost: x\r\n\r\n",
        "GET /a/../b HTTP/1.1\r\nHost: x\r\n\r\n",
        "GET /.hidden HTTP/1.1\r\nHost: x\r\n\r\n",
        "GET //a HTTP/1.1\r\nHost: x\r\n\r\n",
        "GET /a;b HTTP/1.1\r\nHost: x\r\n\r\n",
        "GET /\xc3\xa9 HTTP/1.1\r\nHost: x\r\n\r\n",
        "GET / HTTP/1.1\r\nHost: x\r\nauthorization: a\r\nAuthorization: a\r\n\r\n",
        "GET /a?b=%00 HTTP/1.1\r\nHost: x\r\n\r\n",
    };

    (void)state;
    for (size_t i = 0; i < sizeof(BAD) / sizeof(BAD[0]); i++)
        assert_int_equal(status_of(BAD[i]), 400);
}

static void what_is_too_large_is_refused(void **state)
{
    char head[2000] = "GET /";

    (void)state;
    assert_int_equal(
        status_of("GET / HTTP/1.1\r\nHost: x\r\nContent-Length: 99999999999\r\n\r\n"),
        413);
    memset(head + 5, 'a', GATE_URI_MAX - 1);
    strcpy(head + 4 + GATE_URI_MAX, " HTTP/1.1\r\nHost: x\r\n\r\n");
    assert_int_equal(status_of(head), 0);
    memset(head + 5, 'a', GATE_URI_MAX);
    strcpy(head + 5 + GATE_URI_MAX, " HTTP/1.1\r\nHost: x\r\n\r\n");
    assert_int_equal(status_of(head), 414);
    strcpy(head, "GET / HTTP/1.1\r\nHost: x\r\n");
    for (int i = 0; i < GATE_HEADERS_MAX - 1; i++)
        strcat(head, "A: b\r\n");
    strcat(head, "\r\n");
    assert_int_equal(status_of(head), 0);
    head[strlen(head) - 2] = '\0';
    strcat(head, "A: b\r\n\r\n");
    assert_int_equal(status_of(head), 431);
}

static void methods_are_known_or_not(void **state)
{
    (void)state;
    assert_true(gate_knows_method("GET"));
    assert_true(gate_knows_method("TRACE"));
    assert_false(gate_knows_method("get"));
    assert_false(gate_knows_method("BREW"));
    assert_false(gate_knows_method(""));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(plain_requests_are_let_in),
        cmocka_unit_test(what_could_be_read_in_two_ways_is_refused),
        cmocka_unit_test(what_is_too_large_is_refused),
        cmocka_unit_test(methods_are_known_or_not),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
