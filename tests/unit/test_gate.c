/* SPDX-License-Identifier: MIT */
/* test_gate.c -- the gate as a function: bytes in, a verdict out; one test per rule. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/http/gate.h"
#include "tests/registered.h"

static struct gate_request head;
static size_t bytes_length;
/* Of the exact size of the judged bytes, so that a sanitizer sees a read behind them. */
static char *bytes;

/* Judge `length` bytes. */
static struct gate_verdict judge_bytes(const char *from, size_t length)
{
    free(bytes);
    bytes = malloc(length > 0 ? length : 1);
    bytes_length = length;
    assert_non_null(bytes);
    memcpy(bytes, from, length);
    return gate_check(bytes, length, &head);
}

static struct gate_verdict judge(const char *text)
{
    return judge_bytes(text, strlen(text));
}

/* Each of these texts (up to a NULL) must be refused with `status`, and the answer must contain
 * `word` and name `line`. */
static void refused(int status, size_t line, const char *word, const char *const *texts)
{
    for (; *texts != NULL; texts++) {
        struct gate_verdict v = judge(*texts);

        if (v.status != status || v.line != line || strstr(v.why, word) == NULL)
            fail_msg("%d, line %zu, %s\ninstead of %d, line %zu, %s\nfor %s", v.status,
                     v.line, v.why != NULL ? v.why : "let in", status, line, word,
                     *texts);
    }
}
#define REFUSED(status, line, word, ...)                                               \
    refused(status, line, word, (const char *const[]){__VA_ARGS__, NULL})

static void let_in(const char *const *texts)
{
    for (; *texts != NULL; texts++) {
        struct gate_verdict v = judge(*texts);

        if (v.status != 0)
            fail_msg("%d, line %zu, %s for %s", v.status, v.line, v.why, *texts);
        assert_int_equal(v.head_bytes, strlen(*texts));
    }
}
#define LET_IN(...) let_in((const char *const[]){__VA_ARGS__, NULL})

#define LINE "GET / HTTP/1.1\r\n"
#define HOST "Host: x\r\n"
#define FIRST(line) line "\r\n" HOST "\r\n"
#define TARGET(target) "GET " target " HTTP/1.1\r\n" HOST "\r\n"
#define HEADER(header) LINE HOST header "\r\n\r\n"
#define HOST_IS(value) LINE "Host: " value "\r\n\r\n"

TEST(a_plain_request_is_let_in_and_split)
{
    struct gate_verdict v;

    v = judge("POST /a-b/c_d?e=%41&f HTTP/1.0\r\nhost:x\r\nA:  b c  \r\n"
              "CONTENT-LENGTH: 12\r\nExpect: 100-Continue\r\n\r\nGET / HT");
    assert_int_equal(v.status, 0);
    assert_string_equal(head.method, "POST");
    assert_string_equal(head.uri, "/a-b/c_d");
    assert_string_equal(head.query, "e=%41&f");
    assert_string_equal(head.version, "1.0");
    assert_int_equal(head.header_count, 4);
    assert_string_equal(head.headers[1].name, "A");
    assert_string_equal(head.headers[1].value, "b c");
    assert_int_equal(v.body_bytes, 12);
    assert_true(v.has_length && v.expects_continue);
    assert_int_equal(bytes_length - v.head_bytes, strlen("GET / HT"));
    assert_memory_equal(bytes + v.head_bytes - 2, "\r\nGET / HT", 10);
    v = judge(HEADER("Content-Length: 0"));
    assert_true(v.status == 0 && v.has_length && v.body_bytes == 0);
    assert_null(head.query);
    LET_IN(FIRST("GET /?a=b HTTP/1.1"), HEADER("X:"), HEADER("X: \xc3\xa9"),
           HEADER("X!#$%&'*+-.^_`|~: y"), TARGET("/~a/b:c/(d)!$&'*+,=@"));
}

/* The verdict depends on the head alone: neither on the bytes after it nor on those that have not
 * arrived yet. */
TEST(bytes_after_the_head_are_not_judged)
{
    static const char *const AFTER[] = {"\r", "\r\n\r\n", "\n", "GET / HTTP/1.1\r\n",
                                        "X: y\r\n\r\n", "\x01"};
    static const char *const HEADS[] = {LINE HOST "\r\n", LINE "Host: x\n\n",
                                        LINE HOST "\n\n", LINE "\r\n"};
    char text[200];

    for (size_t h = 0; h < sizeof(HEADS) / sizeof(HEADS[0]); h++) {
        struct gate_verdict alone = judge(HEADS[h]);

        assert_int_equal(alone.status, h == 0 ? 0 : 400);
        for (size_t i = 0; i < sizeof(AFTER) / sizeof(AFTER[0]); i++) {
            (void)snprintf(text, sizeof(text), "%s%s", HEADS[h], AFTER[i]);
            assert_int_equal(judge(text).status, alone.status);
        }
        /* The bytes that ended an earlier head, and its NUL, stay behind the new head. */
        (void)snprintf(text, sizeof(text), "%s\r", HEADS[h]);
        assert_int_equal(judge_bytes(text, strlen(text) + 1).status, alone.status);
    }
}

TEST(every_beginning_of_a_head_is_incomplete)
{
    static const char HEAD[] = "GET /a?b=c HTTP/1.1\r\nHost: x\r\nA: b\r\n\r\n";

    for (size_t n = 0; n + 1 < sizeof(HEAD); n++)
        assert_int_equal(judge_bytes(HEAD, n).status, 408);
    assert_int_equal(judge_bytes(HEAD, sizeof(HEAD) - 1).status, 0);
}

TEST(a_request_begins_with_its_method)
{
    REFUSED(400, 1, "begin with its method", "\r\n" LINE HOST "\r\n",
            "\n" LINE HOST "\r\n", " " LINE HOST "\r\n", "\r\n\r\n" LINE HOST "\r\n");
}

TEST(lines_end_in_cr_lf)
{
    REFUSED(400, 0, "CR LF", LINE "Host: x\n\n", LINE HOST "\n\n", "GET / HTTP/1.1\n\n");
    REFUSED(400, 1, "CR LF", "GET / HTTP/1.1\nHost: x\r\n\r\n",
            "GET \n/ HTTP/1.1\r\n" HOST "\r\n", "GET / \rHTTP/1.1\r\n" HOST "\r\n",
            "GET / HTTP/1.1\r\r\n" HOST "\r\n");
    REFUSED(400, 2, "CR LF", LINE "Host: x\nA: b\r\n\r\n", LINE "Host: x\ry\r\n\r\n",
            LINE "Host: x\n\r\nA: b\r\n\r\n");
    REFUSED(400, 3, "CR LF", LINE HOST "A: b\n\r\n\r\n", LINE HOST "A: b\r\r\n\r\n");
}

TEST(control_bytes_are_refused)
{
    char text[] = HEADER("A: b!c");

    for (int c = 0; c < 256; c++) {
        bool is_control = (c < ' ' || c == 0x7f) && c != '\r' && c != '\n';

        strstr(text, "A: b")[4] = (char)c;
        if (c == '\r' || c == '\n')
            continue;
        assert_int_equal(judge_bytes(text, sizeof(text) - 1).status,
                         is_control ? 400 : 0);
    }
    REFUSED(400, 0, "control bytes", "GET\t/ HTTP/1.1\r\n" HOST "\r\n",
            HEADER("A:\tb"), "GET / HTTP/1.1\r\nHost: x\x01");
}

TEST(the_request_line_has_three_words_and_two_spaces)
{
    REFUSED(400, 1, "the request line must be", FIRST("GET  / HTTP/1.1"),
            FIRST("GET /  HTTP/1.1"), FIRST("GET / HTTP/1.1 "), FIRST("GET /"),
            FIRST("GET / a HTTP/1.1"), FIRST("GET"), FIRST("GET / http/1.1"),
            FIRST("GET / HTTP/1"), FIRST("GET / HTTP/1.10"), FIRST("GET / HTTP/1.1x"),
            FIRST("GET / HTTP/.1"), FIRST("GET / HTTPS/1.1"), FIRST("G(T / HTTP/1.1"),
            FIRST("hello, is anybody there?"));
    REFUSED(505, 1, "HTTP/1.1", FIRST("GET / HTTP/2.0"), FIRST("GET / HTTP/0.9"),
            FIRST("GET / HTTP/1.2"));
    REFUSED(501, 1, "not implement this method", FIRST("BREW / HTTP/1.1"), FIRST("get / HTTP/1.1"),
            FIRST("GETT / HTTP/1.1"), FIRST("TRACE / HTTP/1.1"));
}

TEST(a_path_means_one_thing)
{
    LET_IN(TARGET("/.a"), TARGET("/a/..b"), TARGET("/a."), TARGET("/..."), TARGET("/.../a"));
    REFUSED(400, 1, "the path may have", TARGET("/a%41"), TARGET("/a/../b"), TARGET("/a/."),
            TARGET("/./a"), TARGET("/.a/.."), TARGET("/.../.."), TARGET("//a"),
            TARGET("/a//b"), TARGET("/a;b"),
            TARGET("/\xc3\xa9"), TARGET("/a\\b"), TARGET("/a#b"), TARGET("/<a>"),
            TARGET("/{a}"), TARGET("/a\"b"), TARGET("/a|b"), TARGET("/a^b"),
            TARGET("/a`b"), TARGET("/."), TARGET("/.."), TARGET("/a%00"));
    REFUSED(400, 1, "the target must be a path", TARGET("a"), TARGET("*"), TARGET("?a=b"),
            FIRST("OPTIONS * HTTP/1.1"), FIRST("CONNECT x:80 HTTP/1.1"));
}

TEST(a_query_means_one_thing)
{
    LET_IN(TARGET("/a?b=c"), TARGET("/a?b=c&d=e"), TARGET("/a?b"), TARGET("/a?b="),
           TARGET("/a?"), TARGET("/a?b=%c3%a9+c"), TARGET("/a?b=c=d"), TARGET("/a?b=/?:@"),
           TARGET("/a?b=1&bb=2&b.b=3"));
    REFUSED(400, 1, "a value in the query", TARGET("/a?b=%00"), TARGET("/a?b=%"),
            TARGET("/a?b=%4"), TARGET("/a?b=%4&c=d"), TARGET("/a?b=%zz"),
            TARGET("/a?b=%0d%0a"), TARGET("/a?b=%7F"), TARGET("/a?b=%ff"),
            TARGET("/a?b=%c0%af"), TARGET("/a?b=#c"), TARGET("/a?b=\"c"),
            TARGET("/a?b=<c>"), TARGET("/a?b={c}"), TARGET("/a?b=\\c"),
            TARGET("/a?b=\xc3\xa9"), TARGET("/a?b=c|d"));
    REFUSED(400, 1, "the query must be", TARGET("/a?&"), TARGET("/a?=b"),
            TARGET("/a?b=c&"), TARGET("/a?b=c&&d=e"), TARGET("/a?b[]=c"),
            TARGET("/a?%62=c"), TARGET("/a?b;c=d"), TARGET("/a?b#c"));
    REFUSED(400, 1, "once, not twice", TARGET("/a?b=c&b=c"), TARGET("/a?b&c=d&b=e"));
}

TEST(a_whole_url_is_served_for_the_host_of_the_host_header)
{
    LET_IN("GET http://x/ HTTP/1.1\r\nHost: x\r\n\r\n",
           "GET HTTP://X:80/a?b=c HTTP/1.1\r\nHost: x:80\r\n\r\n");
    assert_int_equal(judge("GET http://a.b:8081/c/d?e=f HTTP/1.1\r\nHost: A.b:8081\r\n\r\n")
                         .status, 0);
    assert_string_equal(head.uri, "/c/d");
    assert_string_equal(head.query, "e=f");
    REFUSED(400, 1, "the same host", TARGET("http://y/"), TARGET("http://x:80/"),
            TARGET("http://xx/"));
    REFUSED(400, 1, "the target must be a path", TARGET("http://x"),
            TARGET("http:///"), TARGET("http://x?a=b"), TARGET("https://x/"),
            TARGET("ftp://x/"), TARGET("http://u@x/"), TARGET("http:/x/"));
    REFUSED(400, 1, "the path may have", TARGET("http://x//a"), TARGET("http://x/../a"));
}

TEST(headers_are_a_name_a_colon_and_a_value)
{
    REFUSED(400, 3, "a header must be a name", HEADER("A : b"), HEADER(": b"),
            HEADER("A"), HEADER("A b: c"), HEADER("A(b): c"), HEADER("A@b: c"),
            HEADER("A[b]: c"), HEADER("A/b: c"), HEADER("A\"b\": c"), HEADER("A{b}: c"),
            HEADER("A\\b: c"), HEADER("A;b: c"), HEADER("A<b>: c"), HEADER("A=b: c"),
            HEADER("A?b: c"), HEADER("A,b: c"), HEADER("\xc3\xa9: c"));
    REFUSED(400, 2, "a header must be a name", LINE "Host : x\r\n\r\n");
    REFUSED(400, 3, "second line", HEADER(" A: b"), HEADER(" "));
    REFUSED(400, 2, "second line", LINE " Host: x\r\n\r\n");
    REFUSED(400, 4, "second line", HEADER("A: b\r\n c"));
}

TEST(exactly_one_host_is_needed)
{
    REFUSED(400, 0, "Host is missing", LINE "\r\n", LINE "A: b\r\n\r\n");
    REFUSED(400, 3, "once, not twice", HEADER("Host: x"), HEADER("hOST: y"));
}

TEST(a_host_is_a_name_or_an_address)
{
    LET_IN(HOST_IS("x"), HOST_IS("x:80"), HOST_IS("a-b.c_d.e"), HOST_IS("a."),
           HOST_IS("127.0.0.1:65535"), HOST_IS("[::1]"), HOST_IS("[fe80::1:2]:8081"),
           HOST_IS("1a.b2"));
    REFUSED(400, 2, "Host must be a name", HOST_IS(""), HOST_IS("a b"), HOST_IS("a,b"),
            HOST_IS("a/b"), HOST_IS("a@b"), HOST_IS("a:b"), HOST_IS("a:"),
            HOST_IS("a:0"), HOST_IS("a:65536"), HOST_IS("a:080"), HOST_IS("a:80:80"),
            HOST_IS("::1"), HOST_IS("[::1"), HOST_IS("[::1]a"), HOST_IS("[::g]"),
            HOST_IS("[]"), HOST_IS("a..b"), HOST_IS(".a"), HOST_IS("."), HOST_IS("-a"),
            HOST_IS("a-"), HOST_IS("a.-b"), HOST_IS("1.2.3.999"), HOST_IS("1.2.3"),
            HOST_IS("http://a"), HOST_IS("a?b"), HOST_IS("a#b"), HOST_IS("%41"),
            HOST_IS("a\\b"), HOST_IS("\xc3\xa9"), HOST_IS(":80"), HOST_IS("*"));
}

TEST(a_body_has_one_length)
{
    REFUSED(400, 3, "Content-Length must be a number", HEADER("Content-Length: 0x1"),
            HEADER("Content-Length: 1 1"), HEADER("Content-Length:"),
            HEADER("Content-Length: +1"), HEADER("Content-Length: -1"),
            HEADER("Content-Length: 1,1"), HEADER("content-length: 1a"),
            HEADER("Content-Length: 1.0"));
    REFUSED(400, 4, "once, not twice",
            HEADER("Content-Length: 1\r\nContent-Length: 1"),
            HEADER("Content-Length: 1\r\nContent-Length: 2"));
    REFUSED(413, 3, "10 digits", HEADER("Content-Length: 99999999999"));
    REFUSED(400, 3, "Transfer-Encoding is not accepted",
            HEADER("Transfer-Encoding: chunked"), HEADER("transfer-encoding:"),
            HEADER("Transfer-Encoding: identity"));
    REFUSED(400, 4, "Transfer-Encoding is not accepted",
            HEADER("Content-Length: 1\r\nTransfer-Encoding: chunked"));
}

TEST(other_headers_come_once_or_in_one_form)
{
    REFUSED(400, 4, "Authorization", HEADER("authorization: a\r\nAuthorization: a"));
    REFUSED(417, 3, "100-continue", HEADER("Expect: more"), HEADER("Expect:"));
}

TEST(what_is_too_large_is_refused)
{
    static char text[GATE_HEAD_MAX + 100] = "GET /";
    size_t n;

    memset(text + 5, 'a', GATE_URI_MAX - 1);
    strcpy(text + 4 + GATE_URI_MAX, " HTTP/1.1\r\nHost: x\r\n\r\n");
    LET_IN(text);
    memset(text + 5, 'a', GATE_URI_MAX);
    strcpy(text + 5 + GATE_URI_MAX, " HTTP/1.1\r\nHost: x\r\n\r\n");
    REFUSED(414, 1, "512", text);
    strcpy(text, LINE HOST);
    for (int i = 0; i < GATE_HEADERS_MAX - 1; i++)
        strcat(text, "A: b\r\n");
    strcat(text, "\r\n");
    LET_IN(text);
    strcpy(text + strlen(text) - 2, "A: b\r\n\r\n");
    REFUSED(431, GATE_HEADERS_MAX + 2, "59", text);
    for (size_t more = 0; more < 2; more++) {
        strcpy(text, LINE HOST "A: ");
        n = strlen(text);
        memset(text + n, 'a', GATE_HEAD_MAX + more - 4 - n);
        strcpy(text + GATE_HEAD_MAX + more - 4, "\r\n\r\n");
        assert_int_equal(judge(text).status, more == 0 ? 0 : 431);
    }
    memset(text, 'a', GATE_HEAD_MAX);
    assert_int_equal(judge_bytes(text, GATE_HEAD_MAX).status, 431);
    assert_int_equal(judge_bytes(text, GATE_HEAD_MAX - 1).status, 408);
}

TEST(values_of_a_query_are_decoded)
{
    char out[4];

    assert_true(gate_unescape("a%62+", 5, out, sizeof(out)));
    assert_string_equal(out, "ab ");
    assert_true(gate_unescape("", 0, out, sizeof(out)));
    assert_string_equal(out, "");
    assert_false(gate_unescape("abcd", 4, out, sizeof(out)));
    assert_false(gate_unescape("%6", 2, out, sizeof(out)));
    assert_false(gate_unescape("%0a", 3, out, sizeof(out)));
}

TEST(methods_are_known_or_not)
{
    assert_true(gate_knows_method("GET"));
    assert_true(gate_knows_method("PATCH"));
    assert_false(gate_knows_method("TRACE"));
    assert_false(gate_knows_method("get"));
    assert_false(gate_knows_method("BREW"));
    assert_false(gate_knows_method(""));
}
