/* SPDX-License-Identifier: MIT */
/* test_redis_floods.c -- a server whose answer never ends, and arrives as fast as it is read: each
 * call has to end nevertheless. */
#include <arpa/inet.h>
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "lock/stores/redis_request.h"
#include "lock/stores/redis_wake.h"
#include "tests/registered.h"

enum { LIMIT_S = 300, TIMEOUT_MS = 200, CONNS_MAX = 8, PIECES_SIZE = 12 << 16 };

static const char BEGIN[] = "*2147483647\r\n";
static const char PIECE[] = ":1\r\n";
/* A record of TLS that a client ignores in its handshake. */
static const char RECORD[] = {0x16, 3, 3, 0, 1, 0};

/* The server answers the first command of each connection with an array that never ends. */
static struct {
    int listen_fd, port;
    pthread_t thread;
    atomic_bool stopping;
    atomic_long sent; /* bytes on all connections */
    size_t piece_len;
    char pieces[PIECES_SIZE]; /* a multiple of the length of either piece */
    struct {
        int fd;
        bool is_asked;
        size_t begun; /* sent bytes of an unfinished piece */
    } conns[CONNS_MAX];
} server;

static void close_conn(int i)
{
    close(server.conns[i].fd);
    server.conns[i].fd = -1;
}

static void begin_answer(int i)
{
    char heard[2048];

    size_t len = server.piece_len == sizeof(RECORD) ? 0 : strlen(BEGIN);

    if (recv(server.conns[i].fd, heard, sizeof(heard), 0) <= 0 ||
        send(server.conns[i].fd, BEGIN, len, MSG_NOSIGNAL) < (ssize_t)len)
        close_conn(i);
    else
        server.conns[i].is_asked = true;
}

/* Fill the socket, so that its reader always finds more bytes. */
static void go_on(int i)
{
    for (;;) {
        size_t begun = server.conns[i].begun;
        ssize_t sent = send(server.conns[i].fd, server.pieces + begun,
                            sizeof(server.pieces) - begun, MSG_NOSIGNAL | MSG_DONTWAIT);

        if (sent < 0 && errno != EAGAIN)
            close_conn(i);
        if (sent < 0)
            return;
        server.conns[i].begun = (begun + (size_t)sent) % server.piece_len;
        atomic_fetch_add(&server.sent, sent);
    }
}

static void admit(void)
{
    for (int i = 0; i < CONNS_MAX; i++)
        if (server.conns[i].fd < 0) {
            server.conns[i].fd = accept(server.listen_fd, NULL, NULL);
            server.conns[i].is_asked = false;
            server.conns[i].begun = 0;
            return;
        }
}

static void *serve(void *arg)
{
    struct pollfd polled[CONNS_MAX + 1];

    (void)arg;
    while (!atomic_load(&server.stopping)) {
        polled[CONNS_MAX] = (struct pollfd){.fd = server.listen_fd, .events = POLLIN};
        for (int i = 0; i < CONNS_MAX; i++)
            polled[i] = (struct pollfd){.fd = server.conns[i].fd,
                                        .events = server.conns[i].is_asked ? POLLOUT : POLLIN};
        poll(polled, CONNS_MAX + 1, 5);
        for (int i = 0; i < CONNS_MAX; i++)
            if (polled[i].fd >= 0 && polled[i].revents != 0)
                (server.conns[i].is_asked ? go_on : begin_answer)(i);
        if (polled[CONNS_MAX].revents != 0)
            admit();
    }
    return NULL;
}

static void repeat(const char *piece, size_t len)
{
    server.piece_len = len;
    for (size_t at = 0; at < PIECES_SIZE; at += len)
        memcpy(server.pieces + at, piece, len);
}

static int set_up(void **state)
{
    struct sockaddr_in address = {.sin_family = AF_INET,
                                  .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t len = sizeof(address);

    (void)state;
    memset(&server, 0, sizeof(server));
    for (int i = 0; i < CONNS_MAX; i++)
        server.conns[i].fd = -1;
    repeat(PIECE, strlen(PIECE));
    server.listen_fd = socket(AF_INET, SOCK_STREAM, 0);
    assert_int_equal(0, bind(server.listen_fd, (struct sockaddr *)&address, len));
    assert_int_equal(0, listen(server.listen_fd, CONNS_MAX));
    assert_int_equal(0, getsockname(server.listen_fd, (struct sockaddr *)&address, &len));
    server.port = ntohs(address.sin_port);
    assert_int_equal(0, pthread_create(&server.thread, NULL, serve, NULL));
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    atomic_store(&server.stopping, true);
    pthread_join(server.thread, NULL);
    for (int i = 0; i < CONNS_MAX; i++)
        if (server.conns[i].fd >= 0)
            close_conn(i);
    close(server.listen_fd);
    return 0;
}

/* A call to the server must fail, because the first answer never ends. `before` and `behind` are
 * the parts of the URL around the server's address. */
static void assert_call_ends(const char *before, const char *behind)
{
    struct redis_link *link;
    char url[64];

    snprintf(url, sizeof(url), "%s127.0.0.1:%d%s", before, server.port, behind);
    assert_int_equal(DLOCK_OK, redis_link_open(&link, url, TIMEOUT_MS, false));
    assert_true(dlock_is_failure(redis_ping(link)));
    redis_link_close(link);
    assert_true(atomic_load(&server.sent) > 0);
}

TEST_WITH(set_up, tear_down, a_handshake_ends)
{
    repeat(RECORD, sizeof(RECORD));
    assert_call_ends("rediss://", "");
}

TEST_WITH(set_up, tear_down, a_command_ends)
{
    assert_call_ends("redis://", "");
}

TEST_WITH(set_up, tear_down, a_login_ends)
{
    assert_call_ends("redis://:secret@", "");
}

TEST_WITH(set_up, tear_down, a_question_to_a_sentinel_ends)
{
    assert_call_ends("redis-sentinel://", "/shop");
}

TEST_WITH(set_up, tear_down, a_question_to_a_cluster_ends)
{
    assert_call_ends("redis-cluster://", "");
}

TEST_WITH(set_up, tear_down, a_conversation_ends)
{
    static const struct redis_command get = {2, {"GET", "k"}, REDIS_SHAPE_ANY};
    struct redis_talk talk = {0};
    struct redis_answer out;
    char url[64];

    snprintf(url, sizeof(url), "redis://127.0.0.1:%d", server.port);
    assert_int_equal(DLOCK_OK, redis_link_open(&talk.link, url, TIMEOUT_MS, false));
    redis_talk_ask(&talk, &get, INT64_MAX, &out);
    assert_int_equal(REDIS_UNKNOWN, out.outcome);
    redis_talk_end(&talk, false);
    redis_link_close(talk.link);
}

TEST_WITH(set_up, tear_down, a_subscription_is_closed)
{
    const struct redis_wake wake = {.rule = &REDIS_WAKE_LOCK};
    struct redis_subscription *sub;
    struct redis_waiter *waiter;
    char url[64];

    snprintf(url, sizeof(url), "redis://127.0.0.1:%d", server.port);
    assert_int_equal(DLOCK_OK, redis_subscription_open(&sub, url, TIMEOUT_MS));
    waiter = redis_subscription_join(sub, "c", wake);
    assert_non_null(waiter);
    while (atomic_load(&server.sent) < 4 * (long)sizeof(server.pieces))
        poll(NULL, 0, 1);
    redis_waiter_leave(waiter, false);
    redis_subscription_close(sub);
}

/* Ends the process if a loop never ends. */
static int limit(void **state)
{
    (void)state;
    alarm(LIMIT_S);
    return 0;
}

GROUP(limit, NULL)
