/* SPDX-License-Identifier: MIT */
/* test_etcd_floods.c -- a server whose answer never ends, fast or drop by drop: a request has to
 * end at its deadline, and no answer takes all memory. */
#include <arpa/inet.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "lock/stores/etcd_http.h"
#include "tests/registered.h"

enum {
    LIMIT_S = 300,
    SOON_MS = 200,
    PATIENCE_MS = 200000,
    PIECE_SIZE = 1 << 16,
    SENT_MOST = 64 << 20, /* with what the kernel keeps */
};

#define CHUNKED "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"

/* The beginning of an answer, and what follows without end. */
static const struct flood {
    const char *begin, *piece;
    bool has_bound; /* its length ends it, before the deadline */
} FLOODS[] = {
    {"HTTP/1.1 200 OK\r\nContent-Length: 999999999999\r\n\r\n", "{", true},
    {"HTTP/1.1 200 OK\r\n\r\n", "[1,", true},
    {CHUNKED, "4\r\n{{{{\r\n", true},
    {CHUNKED "4;", "extension=", false},
    {"HTTP/1.1 200 OK\r\n", "Name: value\r\n", false},
    {"HTTP/1.1 200 OK\r\nName: ", "value", false},
    {"", "HTTP/1.1 100 Continue\r\n\r\n", false},
    {CHUNKED "0\r\n", "Trailer: value\r\n", false},
    {"", "\r\n", false},
    {"", "HTTP", false},
};

enum { FLOOD_COUNT = sizeof(FLOODS) / sizeof(FLOODS[0]) };

static struct {
    int listen_fd, port;
    pthread_t thread;
    const struct flood *flood;
    bool is_slow;
    atomic_long sent; /* bytes on this connection */
} server;

static void flood(int fd)
{
    const char *piece = server.flood->piece;
    static char pieces[PIECE_SIZE];
    size_t len = 0;

    atomic_store(&server.sent, 0);
    do {
        memcpy(pieces + len, piece, strlen(piece));
        len += strlen(piece);
    } while (!server.is_slow && len + strlen(piece) < PIECE_SIZE);
    if (send(fd, server.flood->begin, strlen(server.flood->begin), MSG_NOSIGNAL) < 0)
        return;
    while (send(fd, pieces, len, MSG_NOSIGNAL) == (ssize_t)len) {
        atomic_fetch_add(&server.sent, (long)len);
        if (server.is_slow)
            usleep(1000);
    }
}

static void *serve(void *arg)
{
    char asked[4096];
    int fd;

    while ((fd = accept(server.listen_fd, NULL, NULL)) >= 0) {
        if (recv(fd, asked, sizeof(asked), 0) > 0)
            flood(fd);
        close(fd);
    }
    return arg;
}

static int start_server(void **state)
{
    struct sockaddr_in at = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t len = sizeof(at);

    (void)state;
    alarm(LIMIT_S); /* ends the process if a loop never ends */
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

/* A request has no answer, and ends. */
static void assert_request_ends(const struct flood *flood, bool is_slow, int timeout_ms)
{
    struct etcd_request request = {"/v3/kv/txn", "{}", INT64_MAX, false, false};
    dlock_options opts = dlock_options_default();
    struct etcd_reply reply;
    struct etcd_http *http;
    dlock_status st;
    char url[64];

    server.flood = flood;
    server.is_slow = is_slow;
    snprintf(url, sizeof(url), "http://127.0.0.1:%d", server.port);
    opts.etcd_url = url;
    opts.etcd_timeout_ms = timeout_ms;
    assert_int_equal(DLOCK_OK, etcd_http_open(&http, &opts));
    st = etcd_http_ask(http, &request, &reply);
    assert_null(reply.json);
    /* The server may have executed it, or is no etcd. */
    if (st != DLOCK_UNKNOWN && st != DLOCK_PROTOCOL)
        fail_msg("\"%.20s\": %s: %s", flood->begin, dlock_status_id(st), dlock_error());
    etcd_http_close(http);
}

TEST(a_request_ends_at_its_deadline)
{
    for (size_t i = 0; i < FLOOD_COUNT; i++) {
        assert_request_ends(&FLOODS[i], true, SOON_MS);
        assert_request_ends(&FLOODS[i], false, SOON_MS);
    }
}

TEST(an_answer_has_a_bound)
{
    for (size_t i = 0; i < FLOOD_COUNT; i++) {
        if (!FLOODS[i].has_bound)
            continue;
        assert_request_ends(&FLOODS[i], false, PATIENCE_MS);
        if (atomic_load(&server.sent) > SENT_MOST)
            fail_msg("\"%.20s\": %ld bytes", FLOODS[i].begin, atomic_load(&server.sent));
    }
}

GROUP(start_server, stop_server)
