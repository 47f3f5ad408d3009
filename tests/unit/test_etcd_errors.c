/* SPDX-License-Identifier: MIT */
/* test_etcd_errors.c -- the errors in the answers of an etcd, in the forms of all its
 * versions, from a server that answers every request with the same text. */
#include <arpa/inet.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "lock/stores/etcd_http.h"
#include "lock/stores/etcd_leases.h"
#include "tests/registered.h"

enum { ROOM = 4 * 4096, TEXT_SIZE = 256, TOKEN_SIZE = 2 * ETCD_TOKEN_SIZE, TIMEOUT_MS = 20000 };

#define DONE "{\"header\":{\"revision\":\"9\"}}"
#define WORDS "words of etcd"

/* A unary error and an error in a stream, of etcd up to 3.5 and from 3.6 on: the text before the
 * number, and the text after it. */
static const char *const FORMS[][2] = {
    {"{\"error\":\"" WORDS "\",\"message\":\"" WORDS "\",\"code\":", "}"},
    {"{\"error\":{\"grpc_code\":", ",\"http_code\":503,\"message\":\"" WORDS "\"}}"},
    {"{\"code\":", ", \"message\":\"" WORDS "\"}"},
    {"{\"error\":{\"code\":", ", \"message\":\"" WORDS "\"}}"},
};

enum { FORM_COUNT = sizeof(FORMS) / sizeof(FORMS[0]) };

/* The server, which serves one request per connection. */
static struct {
    int listen_fd, port;
    pthread_t thread;
    pthread_mutex_t mutex; /* of the two fields below */
    char says[TEXT_SIZE];
    bool has_to_say; /* once; later answers are DONE */
    char token[TOKEN_SIZE]; /* as JSON writes it */
    atomic_int login_count, ask_count;
} server;

static void let_say(const char *text)
{
    pthread_mutex_lock(&server.mutex);
    snprintf(server.says, sizeof(server.says), "%s", text);
    server.has_to_say = true;
    pthread_mutex_unlock(&server.mutex);
}

static void let_give(const char *token)
{
    pthread_mutex_lock(&server.mutex);
    snprintf(server.token, sizeof(server.token), "%s", token);
    pthread_mutex_unlock(&server.mutex);
}

/* Make the next answer the error with that number. Returns its text. */
static const char *let_refuse(size_t form, int number)
{
    static char text[TEXT_SIZE];

    snprintf(text, sizeof(text), "%s%d%s", FORMS[form][0], number, FORMS[form][1]);
    let_say(text);
    return text;
}

static void answer(int fd, const char *asked)
{
    char body[TOKEN_SIZE + TEXT_SIZE] = DONE, text[TOKEN_SIZE + 2 * TEXT_SIZE];
    int len;

    pthread_mutex_lock(&server.mutex);
    atomic_fetch_add(&server.ask_count, 1);
    if (strstr(asked, "/v3/auth/authenticate") != NULL) {
        atomic_fetch_add(&server.login_count, 1);
        snprintf(body, sizeof(body), "{\"header\":{},\"token\":\"%s\"}", server.token);
    } else if (server.has_to_say) {
        server.has_to_say = false;
        snprintf(body, sizeof(body), "%s", server.says);
    }
    pthread_mutex_unlock(&server.mutex);
    len = snprintf(text, sizeof(text),
                   "HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: %zu\r\n\r\n%s",
                   strlen(body), body);
    (void)!send(fd, text, (size_t)len, MSG_NOSIGNAL);
}

/* Every body that the client sends is one object of JSON, which ends the request. */
static void *serve(void *arg)
{
    char asked[ROOM];
    int fd;

    while ((fd = accept(server.listen_fd, NULL, NULL)) >= 0) {
        size_t len = 0;
        ssize_t got;

        while ((len == 0 || asked[len - 1] != '}') &&
               (got = recv(fd, asked + len, sizeof(asked) - 1 - len, 0)) > 0)
            len += (size_t)got;
        asked[len] = '\0';
        answer(fd, asked);
        close(fd);
    }
    return arg;
}

static int start_server(void **state)
{
    struct sockaddr_in at = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t len = sizeof(at);

    (void)state;
    pthread_mutex_init(&server.mutex, NULL);
    let_give("t");
    server.listen_fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    assert_int_equal(0, bind(server.listen_fd, (struct sockaddr *)&at, sizeof(at)));
    assert_int_equal(0, listen(server.listen_fd, 8));
    assert_int_equal(0, getsockname(server.listen_fd, (struct sockaddr *)&at, &len));
    server.port = ntohs(at.sin_port);
    return pthread_create(&server.thread, NULL, serve, NULL);
}

static int stop_server(void **state)
{
    (void)state;
    shutdown(server.listen_fd, SHUT_RDWR);
    pthread_join(server.thread, NULL);
    close(server.listen_fd);
    return 0;
}

static struct etcd_http *open_http(const char *login)
{
    dlock_options opts = dlock_options_default();
    struct etcd_http *http;
    char url[64];

    snprintf(url, sizeof(url), "http://%s127.0.0.1:%d", login, server.port);
    opts.etcd_url = url;
    opts.etcd_timeout_ms = TIMEOUT_MS;
    assert_int_equal(DLOCK_OK, etcd_http_open(&http, &opts));
    return http;
}

/* Send one request. Returns the refusal in the answer; -1 after a failure. */
static int ask(struct etcd_http *http, bool may_be_denied, dlock_status *st)
{
    struct etcd_request request = {"/v3/kv/txn", "{}", INT64_MAX, may_be_denied, false};
    struct etcd_reply reply;

    *st = etcd_http_ask(http, &request, &reply);
    if (*st == DLOCK_OK)
        assert_non_null(reply.json);
    json_decref(reply.json);
    return *st == DLOCK_OK ? (int)reply.error : -1;
}

TEST(every_form_of_an_error_means_the_same)
{
    static const struct {
        int number;
        bool may_be_denied;
        dlock_status want;
        int refusal;
    } ERRORS[] = {
        {5, false, DLOCK_OK, ETCD_NOT_FOUND},    {9, false, DLOCK_OK, ETCD_PRECONDITION},
        {7, true, DLOCK_OK, ETCD_DENIED},        {7, false, DLOCK_PROTOCOL, -1},
        {3, false, DLOCK_PROTOCOL, -1},          {16, false, DLOCK_PROTOCOL, -1},
        {8, false, DLOCK_IO, -1},                {1, false, DLOCK_UNKNOWN, -1},
        {2, false, DLOCK_UNKNOWN, -1},           {4, false, DLOCK_UNKNOWN, -1},
        {10, false, DLOCK_UNKNOWN, -1},          {13, false, DLOCK_UNKNOWN, -1},
        {14, false, DLOCK_UNKNOWN, -1},          {0, false, DLOCK_PROTOCOL, -1},
        {-5, false, DLOCK_PROTOCOL, -1},
    };
    struct etcd_http *http = open_http("");
    dlock_status st;

    for (size_t i = 0; i < sizeof(ERRORS) / sizeof(ERRORS[0]); i++) {
        for (size_t form = 0; form < FORM_COUNT; form++) {
            const char *text = let_refuse(form, ERRORS[i].number);
            int refusal = ask(http, ERRORS[i].may_be_denied, &st);

            if (st != ERRORS[i].want || refusal != ERRORS[i].refusal)
                fail_msg("%s: %s, refusal %d", text, dlock_status_id(st), refusal);
            if (st != DLOCK_OK)
                assert_non_null(strstr(dlock_error(), WORDS));
        }
    }
    assert_int_equal(ETCD_DONE, ask(http, false, &st));
    assert_int_equal(DLOCK_OK, st);
    etcd_http_close(http);
}

TEST(an_error_without_a_number_is_no_answer)
{
    static const char *const TEXTS[] = {"{\"error\":\"no\"}", "{\"error\":{}}",
                                        "{\"error\":\"no\",\"code\":\"5\"}", "{\"code\":\"5\"}",
                                        "{\"code\":null}"};
    struct etcd_http *http = open_http("");
    dlock_status st;

    for (size_t i = 0; i < sizeof(TEXTS) / sizeof(TEXTS[0]); i++) {
        let_say(TEXTS[i]);
        (void)ask(http, true, &st);
        if (st != DLOCK_PROTOCOL)
            fail_msg("%s: %s", TEXTS[i], dlock_status_id(st));
    }
    etcd_http_close(http);
}

TEST(a_refused_token_is_replaced)
{
    struct etcd_http *http = open_http("user:password@");
    dlock_status st;

    for (size_t form = 0; form < FORM_COUNT; form++) {
        int login_count;

        assert_int_equal(ETCD_DONE, ask(http, false, &st));
        login_count = atomic_load(&server.login_count);
        (void)let_refuse(form, 16);
        assert_int_equal(ETCD_DONE, ask(http, false, &st));
        if (atomic_load(&server.login_count) != login_count + 1)
            fail_msg("no new login after %s16%s", FORMS[form][0], FORMS[form][1]);
    }
    etcd_http_close(http);
}

/* With a line break in a token a request would be two, and an honest member would execute the
 * second. */
TEST(a_token_is_the_value_of_a_header)
{
    static const char *const WRONG[] = {
        "",
        "t\\r\\n\\r\\nPOST /v3/kv/deleterange HTTP/1.1\\r\\n\\r\\n",
        "t\\r\\nX: y",
        "t\\nX: y",
        "t\\r",
        "\\u0000",
        "t t",
        "t\\t",
        "t\\u001b",
        "t\\u007f",
        "t\\u009b",
        "k\xc3\xa4se",
    };
    char longest[ETCD_TOKEN_SIZE + 1];
    struct etcd_http *http = open_http("user:password@");
    dlock_status st;

    for (size_t i = 0; i < sizeof(WRONG) / sizeof(WRONG[0]); i++) {
        int count = atomic_load(&server.ask_count);

        let_give(WRONG[i]);
        assert_int_equal(-1, ask(http, false, &st));
        if (st != DLOCK_PROTOCOL || atomic_load(&server.ask_count) != count + 1)
            fail_msg("%s: %s after %d requests", WRONG[i], dlock_status_id(st),
                     atomic_load(&server.ask_count) - count);
    }
    memset(longest, 't', sizeof(longest) - 1);
    longest[sizeof(longest) - 1] = '\0';
    let_give(longest);
    assert_int_equal(-1, ask(http, false, &st));
    longest[sizeof(longest) - 2] = '\0';
    let_give(longest);
    assert_int_equal(ETCD_DONE, ask(http, false, &st));
    etcd_http_close(http);
}

TEST(words_of_etcd_are_one_line)
{
    struct etcd_http *http = open_http("");
    dlock_status st;

    let_say("{\"error\":\"no\",\"message\":\"a\\r\\nb \\u001b[31m\",\"code\":3}");
    assert_int_equal(-1, ask(http, false, &st));
    assert_null(strpbrk(dlock_error(), "\r\n\033"));
    assert_non_null(strstr(dlock_error(), "[31m"));
    let_say("no JSON \033[31m");
    assert_int_equal(-1, ask(http, false, &st));
    assert_null(strchr(dlock_error(), '\033'));
    etcd_http_close(http);
}

TEST(a_password_that_etcd_repeats_is_not_told)
{
    struct etcd_http *http = open_http("u:pass%2Fw0rd@");
    dlock_status st;

    let_say("{\"error\":\"no\",\"message\":\"pass/w0rd, pass%2fw0rd\",\"code\":3}");
    assert_int_equal(-1, ask(http, false, &st));
    assert_null(strstr(dlock_error(), "w0rd"));
    assert_non_null(strstr(dlock_error(), "***, ***"));
    etcd_http_close(http);
}

TEST(a_refused_end_of_a_lease_is_no_end)
{
    struct etcd_http *http = open_http("");
    struct etcd_leases *leases = etcd_leases_open(http);

    for (size_t form = 0; form < FORM_COUNT; form++) {
        (void)let_refuse(form, 14);
        assert_int_equal(DLOCK_UNKNOWN, etcd_lease_end(leases, 7, INT64_MAX));
        (void)let_refuse(form, 5);
        assert_int_equal(DLOCK_LOST, etcd_lease_end(leases, 7, INT64_MAX));
        assert_int_equal(DLOCK_OK, etcd_lease_end(leases, 7, INT64_MAX));
    }
    etcd_leases_close(leases);
    etcd_http_close(http);
}

/* A lying server answers for another lease, or for none. */
TEST(a_renewal_of_another_lease_is_none)
{
    static const char *const IDS[] = {"", "\"ID\":\"8\",", "\"ID\":\"0\",", "\"ID\":7,",
                                      "\"ID\":\"7\","};
    struct etcd_http *http = open_http("");
    struct etcd_leases *leases = etcd_leases_open(http);
    struct etcd_lease lease = {.id = 7, .ttl_ms = 3000};
    char text[TEXT_SIZE];

    for (size_t i = 0; i < sizeof(IDS) / sizeof(IDS[0]); i++) {
        bool is_own = i + 1 == sizeof(IDS) / sizeof(IDS[0]);

        snprintf(text, sizeof(text), "{\"result\":{\"header\":{},%s\"TTL\":\"3\"}}", IDS[i]);
        let_say(text);
        assert_int_equal(is_own ? DLOCK_OK : DLOCK_PROTOCOL,
                         etcd_lease_renew(leases, &lease, INT64_MAX));
        assert_int_equal(is_own, lease.renewed_ns > 0);
    }
    etcd_leases_close(leases);
    etcd_http_close(http);
}

GROUP(start_server, stop_server)
