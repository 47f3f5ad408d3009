/* SPDX-License-Identifier: MIT */
/* test_gate.c -- each kind of malformed request is refused with its reason, while
 * correct clients are served. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tests/service/rig.h"

#define ORDER "POST /voucher-order/seckill/$V HTTP/1.1\r\n"
#define AUTH "authorization: $T\r\n"
#define CREATE "POST /voucher/seckill HTTP/1.1\r\nHost: x\r\nauthorization: $O\r\n"

/* $V stands for a voucher that is on sale, $T for a buyer's token, $O for an operator's,
 * $P for the port. */
static const struct bad {
    const char *name;
    const char *bytes;
    int status;
    const char *outcome;
} BAD[] = {
    {"no token", ORDER "Host: x\r\n\r\n", 401, "unauthorized"},
    {"an empty token", ORDER "Host: x\r\nauthorization: \r\n\r\n", 401, "unauthorized"},
    {"a short token", ORDER "Host: x\r\nauthorization: 0123\r\n\r\n", 401,
     "unauthorized"},
    {"a token of zeros",
     ORDER "Host: x\r\nauthorization: "
           "000000000000000100000000000000000000000000000000\r\n\r\n",
     401, "unauthorized"},
    {"two tokens", ORDER "Host: x\r\n" AUTH AUTH "\r\n", 400, "bad-request"},
    {"an unknown voucher",
     "POST /api/v1/vouchers/9223372036854775807/orders HTTP/1.1\r\nHost: x\r\n" AUTH
     "\r\n",
     404, "unknown-voucher"},
    {"an unknown voucher, the other face",
     "POST /voucher-order/seckill/9223372036854775807 HTTP/1.1\r\nHost: x\r\n" AUTH
     "\r\n",
     200, "unknown-voucher"},
    {"an id that is no number",
     "POST /voucher-order/seckill/abc HTTP/1.1\r\nHost: x\r\n" AUTH "\r\n", 400,
     "bad-request"},
    {"an id with a tail",
     "POST /voucher-order/seckill/1a HTTP/1.1\r\nHost: x\r\n" AUTH "\r\n", 400,
     "bad-request"},
    {"an id that is too large",
     "POST /voucher-order/seckill/9223372036854775808 HTTP/1.1\r\nHost: x\r\n" AUTH
     "\r\n",
     400, "bad-request"},
    {"a negative id",
     "POST /voucher-order/seckill/-1 HTTP/1.1\r\nHost: x\r\n" AUTH "\r\n", 400,
     "bad-request"},
    {"a plus", "POST /voucher-order/seckill/+1 HTTP/1.1\r\nHost: x\r\n" AUTH "\r\n",
     400, "bad-request"},
    {"an id of zero",
     "POST /voucher-order/seckill/0 HTTP/1.1\r\nHost: x\r\n" AUTH "\r\n", 400,
     "bad-request"},
    {"leading zeros",
     "POST /voucher-order/seckill/007 HTTP/1.1\r\nHost: x\r\n" AUTH "\r\n", 400,
     "bad-request"},
    {"no id", "POST /voucher-order/seckill/ HTTP/1.1\r\nHost: x\r\n" AUTH "\r\n", 400,
     "bad-request"},
    {"a body where none belongs",
     ORDER "Host: x\r\n" AUTH "Content-Length: 5\r\n\r\nhello", 400, "bad-request"},
    {"a body over the limit", CREATE "Content-Length: 8193\r\n\r\n{", 413, "too-large"},
    {"a body where none belongs, over the limit",
     ORDER "Host: x\r\n" AUTH "Content-Length: 99999\r\n\r\n", 413, "too-large"},
    {"a length of twenty digits",
     CREATE "Content-Length: 99999999999999999999\r\n\r\n{}", 413, "too-large"},
    {"no length", CREATE "\r\n", 411, "bad-request"},
    {"two lengths that agree",
     CREATE "Content-Length: 2\r\nContent-Length: 2\r\n\r\n{}", 400, "bad-request"},
    {"two lengths that differ",
     CREATE "Content-Length: 2\r\nContent-Length: 20\r\n\r\n{}", 400, "bad-request"},
    {"a length with letters", CREATE "Content-Length: 2abc\r\n\r\n{}", 400,
     "bad-request"},
    {"a length with a plus", CREATE "Content-Length: +2\r\n\r\n{}", 400, "bad-request"},
    {"a negative length", CREATE "Content-Length: -2\r\n\r\n{}", 400, "bad-request"},
    {"an empty length", CREATE "Content-Length: \r\n\r\n{}", 400, "bad-request"},
    {"a list of lengths", CREATE "Content-Length: 2, 2\r\n\r\n{}", 400, "bad-request"},
    {"Transfer-Encoding",
     ORDER "Host: x\r\n" AUTH "Transfer-Encoding: chunked\r\n\r\n0\r\n\r\n", 400,
     "bad-request"},
    {"Transfer-Encoding: identity",
     ORDER "Host: x\r\n" AUTH "Transfer-Encoding: identity\r\n\r\n", 400,
     "bad-request"},
    {"Transfer-Encoding and Content-Length",
     CREATE "Content-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\n{}", 400,
     "bad-request"},
    {"a Transfer-Encoding nobody knows",
     ORDER "Host: x\r\n" AUTH "Transfer-Encoding: xchunked\r\n\r\n", 400,
     "bad-request"},
    {"no Host", ORDER AUTH "\r\n", 400, "bad-request"},
    {"no header at all", ORDER "\r\n", 400, "bad-request"},
    {"two Hosts", ORDER "Host: x\r\nHost: x\r\n" AUTH "\r\n", 400, "bad-request"},
    {"an empty Host", ORDER "Host:\r\n" AUTH "\r\n", 400, "bad-request"},
    {"a space before the colon", ORDER "Host : x\r\n" AUTH "\r\n", 400, "bad-request"},
    {"a folded line", ORDER "Host: x\r\n" AUTH "X-A: b\r\n c\r\n\r\n", 400,
     "bad-request"},
    {"a folded line that hides a header",
     ORDER "Host: x\r\n" AUTH "X-A: b\r\n c\r\nTransfer-Encoding: chunked\r\n\r\n", 400,
     "bad-request"},
    {"a folded first line", ORDER " Host: x\r\n" AUTH "\r\n", 400, "bad-request"},
    {"a bare line feed between headers", ORDER "Host: x\n" AUTH "\r\n", 400,
     "bad-request"},
    {"bare line feeds", "POST /voucher-order/seckill/$V HTTP/1.1\nHost: x\n\n", 400,
     "bad-request"},
    {"a carriage return in a value", ORDER "Host: x\r\nX: a\rb\r\n" AUTH "\r\n", 400,
     "bad-request"},
    {"a control byte in a value", ORDER "Host: x\r\nX: a\x01\r\n" AUTH "\r\n", 400,
     "bad-request"},
    {"a line that is no header", ORDER "Host: x\r\nrubbish\r\n" AUTH "\r\n", 400,
     "bad-request"},
    {"%00 in the path",
     "POST /voucher-order/seckill/$V%00 HTTP/1.1\r\nHost: x\r\n" AUTH "\r\n", 400,
     "bad-request"},
    {"%2e in the path",
     "POST /x/%2e%2e/voucher-order/seckill/$V HTTP/1.1\r\nHost: x\r\n" AUTH "\r\n", 400,
     "bad-request"},
    {"dots in the path",
     "POST /x/../voucher-order/seckill/$V HTTP/1.1\r\nHost: x\r\n" AUTH "\r\n", 400,
     "bad-request"},
    {"two slashes",
     "POST //voucher-order/seckill/$V HTTP/1.1\r\nHost: x\r\n" AUTH "\r\n", 400,
     "bad-request"},
    {"a backslash",
     "POST /voucher-order\\seckill/$V HTTP/1.1\r\nHost: x\r\n" AUTH "\r\n", 400,
     "bad-request"},
    {"%00 in the query",
     "GET /api/v1/vouchers?shop=1%00 HTTP/1.1\r\nHost: x\r\n" AUTH "\r\n", 400,
     "bad-request"},
    {"a query that is no escape",
     "GET /api/v1/vouchers?shop=%zz HTTP/1.1\r\nHost: x\r\n\r\n", 400, "bad-request"},
    {"a name in the query twice",
     "GET /api/v1/vouchers?shop=1&shop=2 HTTP/1.1\r\nHost: x\r\n\r\n", 400,
     "bad-request"},
    {"a line feed before the path", "GET \n/voucher/list/1 HTTP/1.1\r\nHost: x\r\n\r\n",
     400, "bad-request"},
    {"a carriage return after the path",
     "GET /voucher/list/1 \rHTTP/1.1\r\nHost: x\r\n\r\n", 400, "bad-request"},
    {"two spaces before the path", "GET  /voucher/list/1 HTTP/1.1\r\nHost: x\r\n\r\n",
     400, "bad-request"},
    {"two spaces after the path", "GET /voucher/list/1  HTTP/1.1\r\nHost: x\r\n\r\n",
     400, "bad-request"},
    {"a header's name in brackets",
     "GET /voucher/list/1 HTTP/1.1\r\nHost: x\r\n[A]: b\r\n\r\n", 400, "bad-request"},
    {"a Host with a path", "GET /voucher/list/1 HTTP/1.1\r\nHost: x/y\r\n\r\n", 400,
     "bad-request"},
    {"a Host with a port of letters",
     "GET /voucher/list/1 HTTP/1.1\r\nHost: x:y\r\n\r\n", 400, "bad-request"},
    {"a URL of another host",
     "GET http://y:$P/voucher/list/1 HTTP/1.1\r\nHost: x:$P\r\n\r\n", 400,
     "bad-request"},
    {"a URL of another port",
     "GET http://x:1/voucher/list/1 HTTP/1.1\r\nHost: x:1\r\n\r\n", 421,
     "bad-request"},
    {"a URL of another scheme",
     "GET https://x:$P/voucher/list/1 HTTP/1.1\r\nHost: x:$P\r\n\r\n", 400,
     "bad-request"},
    {"a URL without a path", "GET http://x:$P HTTP/1.1\r\nHost: x:$P\r\n\r\n", 400,
     "bad-request"},
    {"an asterisk", "OPTIONS * HTTP/1.1\r\nHost: x\r\n\r\n", 400, "bad-request"},
    {"a host and a port for a target", "CONNECT x:80 HTTP/1.1\r\nHost: x\r\n\r\n", 400,
     "bad-request"},
    {"a URL of this host",
     "GET http://x:$P/api/v1/vouchers/$V?a=b HTTP/1.1\r\nHost: X:$P\r\n\r\n", 200,
     "accepted"},
    {"a query that is not known",
     "GET /api/v1/vouchers?a=b HTTP/1.1\r\nHost: x\r\n\r\n", 400, "bad-request"},
    {"a shop that is no number",
     "GET /api/v1/vouchers?shop=x HTTP/1.1\r\nHost: x\r\n\r\n", 400, "bad-request"},
    {"a path that is not there", "GET /nowhere HTTP/1.1\r\nHost: x\r\n\r\n", 404,
     "not-found"},
    {"the wrong method", "GET /voucher-order/seckill/$V HTTP/1.1\r\nHost: x\r\n\r\n",
     405, "method-not-allowed"},
    {"DELETE", "DELETE /voucher-order/seckill/$V HTTP/1.1\r\nHost: x\r\n\r\n", 405,
     "method-not-allowed"},
    {"the method TRACE", "TRACE /api/v1/vouchers/$V HTTP/1.1\r\nHost: x\r\n\r\n", 501,
     "method-not-allowed"},
    {"a method that does not exist",
     "BREW /voucher-order/seckill/$V HTTP/1.1\r\nHost: x\r\n\r\n", 501,
     "method-not-allowed"},
    {"a method in lower case",
     "post /voucher-order/seckill/$V HTTP/1.1\r\nHost: x\r\n\r\n", 501,
     "method-not-allowed"},
    {"a later version", "GET /api/v1/vouchers HTTP/2.0\r\nHost: x\r\n\r\n", 505,
     "bad-request"},
    {"no version", "GET /api/v1/vouchers\r\nHost: x\r\n\r\n", 400, "bad-request"},
    {"no HTTP", "hello, is there anybody?\r\n\r\n", 400, "bad-request"},
    {"a key of strange bytes", ORDER "Host: x\r\n" AUTH "Idempotency-Key: a/b\r\n\r\n",
     400, "bad-request"},
    {"an empty key", ORDER "Host: x\r\n" AUTH "Idempotency-Key: \r\n\r\n", 400,
     "bad-request"},
    {"two keys",
     ORDER "Host: x\r\n" AUTH "Idempotency-Key: a\r\nIdempotency-Key: b\r\n\r\n", 400,
     "bad-request"},
    {"a key of 65 letters",
     ORDER "Host: x\r\n" AUTH
           "Idempotency-Key: aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"
           "aaaaaaaaaaaaaaaaaaaaaa\r\n\r\n",
     400, "bad-request"},
    {"an expectation", ORDER "Host: x\r\n" AUTH "Expect: the-unexpected\r\n\r\n", 417,
     "bad-request"},
    {"JSON that is none", CREATE "Content-Length: 3\r\n\r\n{x}", 400, "bad-request"},
    {"JSON that is no object", CREATE "Content-Length: 2\r\n\r\n[]", 400,
     "bad-request"},
    {"a field nobody knows", CREATE "Content-Length: 7\r\n\r\n{\"a\":1}", 400,
     "bad-request"},
    {"a body that is empty", CREATE "Content-Length: 0\r\n\r\n", 400, "bad-request"},
};

static struct rig_service service;
static int64_t voucher;
static char token[TOKEN_LEN + 1];
static char operator_token[TOKEN_LEN + 1];

/* Replace the marks by the voucher, the token and the port. */
static void fill_in(const char *bytes, char *out, size_t size)
{
    size_t n = 0;

    for (const char *p = bytes; *p != '\0'; p++) {
        if (strncmp(p, "$V", 2) == 0)
            n += (size_t)snprintf(out + n, size - n, "%lld", (long long)voucher);
        else if (strncmp(p, "$T", 2) == 0)
            n += (size_t)snprintf(out + n, size - n, "%s", token);
        else if (strncmp(p, "$O", 2) == 0)
            n += (size_t)snprintf(out + n, size - n, "%s", operator_token);
        else if (strncmp(p, "$P", 2) == 0)
            n += (size_t)snprintf(out + n, size - n, "%d", service.orders_port);
        else
            n += (size_t)snprintf(out + n, size - n, "%c", *p);
        p += *p == '$';
    }
}

static void expect(const char *name, const char *bytes, int status, const char *outcome)
{
    static struct rig_answer answer;
    int fd = rig_connect(service.orders_port);

    assert_true(fd >= 0);
    assert_true(rig_send(fd, bytes, strlen(bytes)));
    if (!rig_read(fd, &answer, RIG_PATIENCE_MS))
        fail_msg("%s: no answer", name);
    if (answer.status != status || strcmp(answer.outcome, outcome) != 0)
        fail_msg("%s: %d %s instead of %d %s\n%s%s", name, answer.status,
                 answer.outcome, status, outcome, answer.head, answer.body);
    if (answer.request_id[0] == '\0')
        fail_msg("%s: an answer without X-Request-Id", name);
    (void)close(fd);
}

TEST(bad_input_is_refused_by_name)
{
    static char bytes[2048];

    for (size_t i = 0; i < sizeof(BAD) / sizeof(BAD[0]); i++) {
        fill_in(BAD[i].bytes, bytes, sizeof(bytes));
        expect(BAD[i].name, bytes, BAD[i].status, BAD[i].outcome);
    }
    assert_int_equal(rig_orders(voucher), 0);
    assert_int_equal(rig_stock(voucher), 1000);
}

/* Send a head with `count` headers, or with a path of `length` bytes, or with one long value. */
TEST(a_head_over_the_limits_is_refused)
{
    static char bytes[40000];
    static const struct {
        int headers, path, value, status;
    } CASES[] = {
        {60, 0, 0, 431}, {64, 0, 0, 431},  {100, 0, 0, 431},
        {3, 513, 0, 414}, {3, 0, 9000, 431}, {3, 0, 17000, 431},
    };

    for (size_t i = 0; i < sizeof(CASES) / sizeof(CASES[0]); i++) {
        size_t n =
            (size_t)snprintf(bytes, sizeof(bytes), "GET /%.*s HTTP/1.1\r\nHost: x\r\n",
                             CASES[i].path > 0 ? CASES[i].path - 1 : 0,
                             (char[]){[0 ... 599] = 'a', [600] = '\0'});

        for (int h = 1; h < CASES[i].headers; h++)
            n += (size_t)snprintf(bytes + n, sizeof(bytes) - n, "X-%d: 1\r\n", h);
        if (CASES[i].value > 0)
            n += (size_t)snprintf(bytes + n, sizeof(bytes) - n, "X: %0*d\r\n",
                                  CASES[i].value, 1);
        (void)snprintf(bytes + n, sizeof(bytes) - n, "\r\n");
        expect("too much", bytes, CASES[i].status,
               CASES[i].status == 400 ? "bad-request" : "too-large");
    }
}

/* 59 headers and a length of zero are accepted. */
TEST(a_head_of_just_the_limits_is_accepted)
{
    static char bytes[4096];
    static struct rig_answer answer;
    size_t n;
    int fd = rig_connect(service.orders_port);

    n = (size_t)snprintf(bytes, sizeof(bytes),
                         "POST /voucher-order/seckill/%lld HTTP/1.1\r\nHost: x\r\n"
                         "authorization: Bearer %s\r\nContent-Length: 0\r\n",
                         (long long)rig_voucher(1), token);
    for (int h = 3; h < 59; h++)
        n += (size_t)snprintf(bytes + n, sizeof(bytes) - n, "X-%d: 1\r\n", h);
    (void)snprintf(bytes + n, sizeof(bytes) - n, "\r\n");
    assert_true(rig_send(fd, bytes, strlen(bytes)));
    assert_true(rig_read(fd, &answer, RIG_PATIENCE_MS));
    assert_int_equal(answer.status, 200);
    assert_string_equal(answer.outcome, "accepted");
    /* The connection is kept, and two requests at once get two answers in order. */
    n = (size_t)snprintf(bytes, sizeof(bytes),
                         "GET /voucher/list/1 HTTP/1.1\r\nHost: x\r\n\r\n"
                         "GET /nowhere HTTP/1.1\r\nHost: x\r\n\r\n");
    assert_true(rig_send(fd, bytes, n));
    n = 0;
    while (strstr(bytes, "404 Not Found") == NULL && n < 3) {
        static char piece[4096];
        ssize_t got = read(fd, piece, sizeof(piece) - 1);

        assert_true(got > 0);
        piece[got] = '\0';
        if (strstr(piece, "404 Not Found") != NULL)
            break;
    }
    (void)close(fd);
}

/* A client with `Expect: 100-continue` is told to send the body, and is then answered. */
TEST(a_client_that_asks_first_is_told_to_go_on)
{
    static struct rig_answer answer;
    char head[300];
    int fd = rig_connect(service.orders_port);

    (void)snprintf(head, sizeof(head),
                   "POST /voucher/seckill HTTP/1.1\r\nHost: x\r\nauthorization: %s\r\n"
                   "Expect: 100-continue\r\nContent-Length: 2\r\n\r\n",
                   operator_token);
    assert_true(rig_send(fd, head, strlen(head)));
    assert_true(rig_read(fd, &answer, RIG_PATIENCE_MS));
    assert_int_equal(answer.status, 100);
    assert_true(rig_send(fd, "{}", 2));
    assert_true(rig_read(fd, &answer, RIG_PATIENCE_MS));
    assert_int_equal(answer.status, 400);
    assert_non_null(strstr(answer.body, "title: is missing"));
    (void)close(fd);
}

/* A worker's stack is small, and a parser might use some of it for each level of brackets. */
TEST(a_body_of_brackets_is_refused)
{
    static const int LEVELS[] = {5, 1000, 8191};
    static char bytes[10000];
    static char body[8192];

    for (size_t i = 0; i < sizeof(LEVELS) / sizeof(LEVELS[0]); i++) {
        memset(body, '[', sizeof(body));
        body[LEVELS[i]] = '\0';
        (void)snprintf(bytes, sizeof(bytes),
                       "POST /voucher/seckill HTTP/1.1\r\nHost: x\r\n"
                       "authorization: %s\r\nContent-Length: %d\r\n\r\n%s",
                       operator_token, LEVELS[i], body);
        expect("brackets", bytes, 400, "bad-request");
    }
}

/* An empty line before a request could make the parser read bytes of an earlier request.
 */
TEST(an_empty_line_ahead_is_refused)
{
    static const char GOOD[] = "GET /voucher/list/1 HTTP/1.1\r\nHost: x\r\n\r\n";
    static const char *const AHEAD[] = {"\r\n", "\r\n\r\n", "\n", " "};
    static struct rig_answer answer;

    for (size_t i = 0; i < sizeof(AHEAD) / sizeof(AHEAD[0]); i++) {
        int fd = rig_connect(service.orders_port);

        assert_true(rig_send(fd, GOOD, strlen(GOOD)));
        assert_true(rig_read(fd, &answer, RIG_PATIENCE_MS));
        assert_int_equal(answer.status, 200);
        assert_true(rig_send(fd, AHEAD[i], strlen(AHEAD[i])));
        assert_true(rig_send(fd, GOOD, strlen(GOOD)));
        assert_true(rig_read(fd, &answer, RIG_PATIENCE_MS));
        assert_int_equal(answer.status, 400);
        assert_true(rig_is_closed(fd, RIG_PATIENCE_MS));
        (void)close(fd);
    }
}

/* The answer to a refused request names the line of the head, and the reason. */
TEST(a_refusal_names_the_line_and_the_form)
{
    static struct rig_answer answer;

    assert_true(rig_request(service.orders_port, "GET", "/api/v1/vouchers",
                            "Content-Length: x\r\n", NULL, &answer));
    assert_int_equal(answer.status, 400);
    assert_non_null(strstr(answer.head, "application/problem+json"));
    assert_non_null(strstr(answer.body, "line 3 of the head: Content-Length must be a "
                                        "number of decimal digits"));
}

static int begin(void **state)
{
    (void)state;
    service = RIG_START("--lock=none", "--request-timeout=1s");
    voucher = rig_voucher(1000);
    rig_token(1, token);
    rig_operator_token(operator_token);
    return 0;
}

static int end(void **state)
{
    (void)state;
    rig_stop(&service);
    return 0;
}

GROUP(begin, end)
