/* SPDX-License-Identifier: MIT */
/* test_given_up.c -- connections on which a request was given up end by a reset, so that the kernel
 * does not deliver the request later; all others end in order. */
#include <arpa/inet.h>
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/os/clock.h"
#include "base/postgres/connection.h"
#include "lock/stores/etcd_http.h"
#include "lock/stores/redis_request.h"
#include "tests/registered.h"

enum { TIMEOUT_MS = 150, PATIENCE_MS = 20000, IN_ORDER = 0 };

static const struct redis_command SET = {3, {"SET", "seat", "17"}, REDIS_SHAPE_ANY};

/* A server that answers the first packet of its one connection with `says`, and nothing after
 * that. */
static struct {
    int listen_fd, fd;
    int port;
    const char *says;
    size_t say_len;
    pthread_t thread;
} server;

static void *serve(void *arg)
{
    char heard[1024];

    server.fd = accept(server.listen_fd, NULL, NULL);
    if (server.say_len > 0 && recv(server.fd, heard, sizeof(heard), 0) > 0)
        (void)!send(server.fd, server.says, server.say_len, MSG_NOSIGNAL);
    return arg;
}

static void begin(const char *says, size_t say_len)
{
    struct sockaddr_in at = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t len = sizeof(at);

    server.says = says;
    server.say_len = say_len;
    server.listen_fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    assert_int_equal(0, bind(server.listen_fd, (struct sockaddr *)&at, len));
    assert_int_equal(0, listen(server.listen_fd, 8));
    assert_int_equal(0, getsockname(server.listen_fd, (struct sockaddr *)&at, &len));
    server.port = ntohs(at.sin_port);
    assert_int_equal(0, pthread_create(&server.thread, NULL, serve, NULL));
}

/* Read the connection to its end.  Returns the errno of the end; IN_ORDER: it was closed. */
static int end_of_connection(void)
{
    struct pollfd polled = {.events = POLLIN};
    char heard[1024];
    ssize_t got;
    int error;

    pthread_join(server.thread, NULL);
    polled.fd = server.fd;
    do {
        assert_int_equal(1, poll(&polled, 1, PATIENCE_MS));
        got = recv(server.fd, heard, sizeof(heard), 0);
        error = got < 0 ? errno : IN_ORDER;
    } while (got > 0);
    close(server.fd);
    close(server.listen_fd);
    return error;
}

/* ---- Redis ---- */

static struct redis_link *open_link(void)
{
    struct redis_link *link;
    char url[64];

    snprintf(url, sizeof(url), "redis://127.0.0.1:%d", server.port);
    assert_int_equal(DLOCK_OK, redis_link_open(&link, url, TIMEOUT_MS, false));
    return link;
}

TEST(redis_sees_a_reset_after_a_request_without_an_answer)
{
    struct redis_answer answer;
    struct redis_link *link;

    begin("", 0);
    link = open_link();
    assert_int_equal(DLOCK_UNKNOWN, redis_call(link, &SET, INT64_MAX, &answer));
    assert_int_equal(ECONNRESET, end_of_connection());
    redis_link_close(link);
}

TEST(redis_sees_a_reset_after_a_conversation_without_an_answer)
{
    struct redis_answer answer;
    struct redis_talk talk = {0};

    begin("", 0);
    talk.link = open_link();
    redis_talk_ask(&talk, &SET, INT64_MAX, &answer);
    assert_int_equal(REDIS_UNKNOWN, answer.outcome);
    assert_int_equal(ECONNRESET, end_of_connection());
    redis_talk_end(&talk, false);
    redis_link_close(talk.link);
}

TEST(redis_sees_an_orderly_end_after_an_answer)
{
    struct redis_answer answer;
    struct redis_link *link;

    begin("+OK\r\n", 5);
    link = open_link();
    assert_int_equal(DLOCK_OK, redis_call(link, &SET, INT64_MAX, &answer));
    redis_link_close(link);
    assert_int_equal(IN_ORDER, end_of_connection());
}

/* ---- PostgreSQL ---- */

/* The answer to the first packet: no password is wanted, and the session is idle. */
static const char WELCOME[] = "R\0\0\0\x08\0\0\0\0Z\0\0\0\x05I";

static struct postgres_connection *open_session(void)
{
    struct postgres_wire_options options = {.url = NULL};
    struct postgres_connection *connection;
    char url[80];

    begin(WELCOME, sizeof(WELCOME) - 1);
    snprintf(url, sizeof(url), "postgresql://u@127.0.0.1:%d/d?sslmode=disable", server.port);
    options.url = url;
    connection = postgres_connection_new(&options, POSTGRES_POOLER_NONE);
    assert_non_null(connection);
    assert_int_equal(POSTGRES_OPEN,
                     postgres_connection_open(
                         connection, dlock_clock_after(dlock_clock_ns(), PATIENCE_MS)));
    return connection;
}

TEST(postgresql_sees_a_reset_after_a_statement_without_an_answer)
{
    struct postgres_connection *connection = open_session();
    struct postgres_wire *wire = postgres_connection_wire(connection);
    int64_t until_ns = dlock_clock_after(dlock_clock_ns(), TIMEOUT_MS);
    struct postgres_result *result = NULL;

    assert_true(postgres_wire_put_query(wire, "INSERT INTO dlock_lock DEFAULT VALUES"));
    assert_true(postgres_wire_send(wire, until_ns));
    assert_false(postgres_wire_receive(wire, until_ns, &result));
    postgres_connection_close(connection);
    assert_int_equal(ECONNRESET, end_of_connection());
}

TEST(postgresql_sees_an_orderly_end_of_an_idle_session)
{
    postgres_connection_close(open_session());
    assert_int_equal(IN_ORDER, end_of_connection());
}

/* ---- etcd ---- */

static const char DONE[] = "HTTP/1.1 200 OK\r\nContent-Length: 13\r\n\r\n{\"header\":{}}";

static dlock_status ask_etcd(bool answers)
{
    struct etcd_request request = {"/v3/kv/txn", "{}", INT64_MAX, false, false};
    dlock_options opts = dlock_options_default();
    struct etcd_reply reply;
    struct etcd_http *http;
    char url[64];
    dlock_status st;

    begin(DONE, answers ? sizeof(DONE) - 1 : 0);
    snprintf(url, sizeof(url), "http://127.0.0.1:%d", server.port);
    opts.etcd_url = url;
    opts.etcd_timeout_ms = answers ? PATIENCE_MS : TIMEOUT_MS;
    assert_int_equal(DLOCK_OK, etcd_http_open(&http, &opts));
    st = etcd_http_ask(http, &request, &reply);
    if (st == DLOCK_OK)
        json_decref(reply.json);
    etcd_http_close(http);
    return st;
}

TEST(etcd_sees_a_reset_after_a_request_without_an_answer)
{
    assert_int_equal(DLOCK_UNKNOWN, ask_etcd(false));
    assert_int_equal(ECONNRESET, end_of_connection());
}

TEST(etcd_sees_an_orderly_end_after_an_answer)
{
    assert_int_equal(DLOCK_OK, ask_etcd(true));
    assert_int_equal(IN_ORDER, end_of_connection());
}
