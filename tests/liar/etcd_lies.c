/* SPDX-License-Identifier: MIT */
/* etcd_lies.c -- the wrong answers of a lying etcd: in JSON, in HTTP, and in neither of them. */
#include <stdio.h>
#include <string.h>

#include "tests/liar/lies.h"

enum { LIES_MAX = 96, BYTES_SIZE = 1024 };

#define HEADER "\"header\":{\"revision\":\"9\"}"
#define GRANT "{" HEADER ",\"succeeded\":true}"

static struct lie lies[LIES_MAX];
static char bytes[LIES_MAX][BYTES_SIZE];
static size_t count;

static void add_bytes(const char *name, const char *text, size_t len, bool then_close)
{
    memcpy(bytes[count], text, len);
    lies[count] = (struct lie){name, bytes[count], len, then_close};
    count++;
}

static void add(const char *name, const char *status, const char *body)
{
    char text[BYTES_SIZE];
    int len = snprintf(text, sizeof(text),
                       "HTTP/1.1 %s\r\nContent-Type: application/json\r\n"
                       "Content-Length: %zu\r\n\r\n%s",
                       status, strlen(body), body);

    add_bytes(name, text, (size_t)len, false);
}

/* Answers in JSON to another request, or to none. */
static void add_json(void)
{
    static const char *const BODIES[] = {
        "{}", "[]", "null", "true", "7", "\"x\"", "{\"succeeded\":true}",
        "{\"header\":{},\"succeeded\":true}",
        "{\"header\":{\"revision\":\"0\"},\"succeeded\":true}",
        "{\"header\":{\"revision\":\"-9\"},\"succeeded\":true}",
        "{\"header\":{\"revision\":9},\"succeeded\":true}",
        "{\"header\":{\"revision\":\"99999999999999999999\"},\"succeeded\":true}",
        "{\"header\":[],\"succeeded\":true}",
        "{\"header\":{\"cluster_id\":\"7\",\"revision\":\"9\"},\"succeeded\":true}",
        "{\"header\":{\"cluster_id\":7,\"revision\":\"9\"},\"responses\":[{},{}]}",
        "{" HEADER ",\"succeeded\":\"true\"}",
        "{" HEADER ",\"succeeded\":1}",
        "{" HEADER "}",
        "{" HEADER ",\"responses\":[]}",
        "{" HEADER ",\"responses\":{}}",
        "{" HEADER ",\"responses\":[null,null]}",
        "{" HEADER ",\"responses\":[{\"response_range\":{}},{\"response_range\":{}}]}",
        "{" HEADER ",\"responses\":[{\"response_range\":{\"kvs\":{}}},"
        "{\"response_range\":{\"kvs\":7}}]}",
        "{" HEADER ",\"responses\":[{},{\"response_range\":{\"kvs\":[{}]}}]}",
        "{" HEADER ",\"responses\":[{\"response_range\":{\"kvs\":[{\"key\":\"YS8x\"}]}},"
        "{\"response_range\":{\"kvs\":[{\"key\":\"YS8x\",\"create_revision\":\"3\"}]}}]}",
        "{" HEADER ",\"responses\":[{},{\"response_range\":{\"kvs\":[{\"key\":\"!\","
        "\"create_revision\":\"3\"}]}}]}",
        "{" HEADER ",\"kvs\":[{\"key\":7}],\"count\":\"1\"}",
        "{" HEADER ",\"kvs\":[{\"key\":\"YS8x\",\"create_revision\":\"x\"}]}",
        "{" HEADER ",\"ID\":\"1\",\"TTL\":\"0\"}",
        "{" HEADER ",\"ID\":\"1\",\"TTL\":\"-5\"}",
        "{" HEADER ",\"ID\":\"1\",\"TTL\":\"9223372036854775807\"}",
        "{\"result\":{}}", "{\"result\":{\"TTL\":\"1\"}}", "{\"result\":{\"TTL\":\"x\"}}",
        "{\"result\":7}", "{\"result\":{\"created\":true}}",
        "{\"succeeded\":true,\"succeeded\":true," HEADER "}",
    };

    for (size_t i = 0; i < sizeof(BODIES) / sizeof(BODIES[0]); i++)
        add(BODIES[i], "200 OK", BODIES[i]);
    add("grant", "200 OK", GRANT);
}

static void add_errors(void)
{
    static const char *const STATUSES[] = {"400 Bad Request", "404 Not Found",
                                           "412 Precondition Failed", "429 Too Many Requests",
                                           "500 Internal Server Error", "503 Unavailable"};
    static const int CODES[] = {3, 5, 9, 8, 13, 14};

    for (size_t i = 0; i < sizeof(CODES) / sizeof(CODES[0]); i++) {
        char body[128];

        snprintf(body, sizeof(body), "{\"error\":\"no\",\"message\":\"no\",\"code\":%d}", CODES[i]);
        add(STATUSES[i], STATUSES[i], body);
        snprintf(body, sizeof(body), "{\"code\":%d, \"message\":\"no\"}", CODES[i]); /* etcd 3.6 */
        add(STATUSES[i], STATUSES[i], body);
    }
    add("an error of a stream", "200 OK",
        "{\"error\":{\"grpc_code\":14,\"http_code\":503,\"message\":\"no leader\"}}");
    add("an error of a stream of etcd 3.6", "200 OK",
        "{\"error\":{\"code\":14,\"message\":\"no leader\"}}");
    add("an error without a number", "200 OK", "{\"error\":\"no\"}");
    add("an error with a wrong number", "200 OK", "{\"error\":\"no\",\"code\":\"5\"}");
    add("an error below zero", "200 OK", "{\"error\":\"no\",\"code\":-5}");
    add("a token is bad", "401 Unauthorized",
        "{\"error\":\"etcdserver: invalid auth token\",\"code\":16}");
    add("a token is bad, by etcd 3.6", "401 Unauthorized",
        "{\"code\":16, \"message\":\"etcdserver: invalid auth token\"}");
    add("an error of many lines", "400 Bad Request",
        "{\"message\":\"a\\r\\nb\\u001b[31m\\u009b\",\"code\":3}");
    add("a cluster of another name", "200 OK",
        "{\"header\":{\"cluster_id\":\"\\u001b[31m\",\"revision\":\"9\"}}");
    add("a grant in an error", "503 Unavailable", "{\"error\":\"no\",\"code\":14," HEADER
                                                  ",\"succeeded\":true}");
}

#define ADD_BYTES(name, text, then_close) add_bytes(name, text, sizeof(text) - 1, then_close)

static void add_http(void)
{
    add("a page", "200 OK", "<html>hello</html>");
    add("a terminal", "200 OK", "a\033[31mb");
    add("nothing in it", "200 OK", "");
    add("half of a grant", "200 OK", "{" HEADER ",\"succeeded\":tr");
    add("a grant and more", "200 OK", GRANT "{}");
    add("a NUL in it", "200 OK", "{\"a\":\"\\u0000\"}");
    add("another way", "302 Found", "{}");
    ADD_BYTES("nothing", "", true);
    ADD_BYTES("another protocol", "+OK\r\n", true);
    ADD_BYTES("a head without end", "HTTP/1.1 200 OK\r\n", true);
    ADD_BYTES("no status", "HTTP/1.1 OK\r\n\r\n", true);
    ADD_BYTES("a body cut off", "HTTP/1.1 200 OK\r\nContent-Length: 99\r\n\r\n" GRANT, true);
    ADD_BYTES("a chunk cut off",
              "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n99\r\n" GRANT, true);
    ADD_BYTES("a chunk without a size",
              "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nx\r\n" GRANT, true);
    ADD_BYTES("go on", "HTTP/1.1 100 Continue\r\n\r\n", true);
    ADD_BYTES("gzip that is none",
              "HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: 2\r\n\r\n{}", true);
}

size_t etcd_lies(const struct lie **out)
{
    if (count == 0) {
        add_json();
        add_errors();
        add_http();
    }
    *out = lies;
    return count;
}

/* A key that does not wait is put only if the lock has no key, and then the transaction answers
 * `succeeded`. */
bool etcd_is_grant(const struct lie *lie, const char *asked)
{
    return strstr(asked, "request_put") != NULL && strstr(asked, "\"compare\"") != NULL &&
           strcmp(lie->name, "grant") == 0;
}
