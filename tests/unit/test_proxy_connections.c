/* SPDX-License-Identifier: MIT */
/* test_proxy_connections.c -- the beginning, waiting and end of connections through a proxy. */
#include "tests/registered.h"
#include "tests/unit/proxied_redis.h"

#include "loadtest/proxy/target.h"

TEST_WITH(set_up, tear_down, a_half_closed_request_line_still_answers)
{
    int fd = call();
    int fault = arm("half-close to-server after message 2");

    say(fd, "PING\r\nSET h 1\r\nSET i 1\r\n");
    hears(fd, "+PONG\r\n+OK\r\n");
    assert_int_equal(0, end_of(fd)); /* the server has seen the end of the client's side */
    assert_true(proxy_wait(wire, fault, PATIENCE_MS));
    assert_int_equal(1, tell("EXISTS h i"));
    close(fd);
}

TEST_WITH(set_up, tear_down, fifty_connections_have_fates_of_their_own)
{
    enum { COUNT = 50 };
    int fds[COUNT];

    for (int i = 0; i < COUNT; i++) {
        fds[i] = call();
        assert_comes(stats().connections == (uint64_t)i + 1);
    }
    arm("drop:1 to-client after message 1 of each connection");
    arm("cut to-client after message 2 of connection 50");
    for (int i = 0; i < COUNT; i++)
        say(fds[i], "ECHO 1\r\nECHO 2\r\nECHO 3\r\n");
    for (int i = 0; i < COUNT - 1; i++)
        hears(fds[i], "$1\r\n1\r\n$1\r\n3\r\n");
    hears(fds[COUNT - 1], "$1\r\n1\r\n");
    assert_int_equal(ECONNRESET, end_of(fds[COUNT - 1]));
    assert_int_equal(COUNT + 1, stats().strikes);
    for (int i = 0; i < COUNT; i++)
        close(fds[i]);
    assert_comes(stats().open == 0);
}

/* The server's bytes fill the sockets and the 128 KiB of the proxy, and then the server waits. */
TEST_WITH(set_up, tear_down, a_slow_reader_makes_the_server_wait)
{
    enum { QUIET_LOOKS = 100 };
    static char chunk[65536];
    uint64_t received = 0, heard = 0;
    int fd = call();

    freeReplyObject(redisCommand(server.side, "SETRANGE big %d x", BIG_SIZE - 1));
    for (int i = 0; i < 4; i++)
        say(fd, "GET big\r\n");
    for (int quiet = 0; quiet < QUIET_LOOKS; quiet++) {
        struct proxy_stats s = stats();

        if (s.received[PROXY_TO_CLIENT] != received || received == 0)
            quiet = 0;
        received = s.received[PROXY_TO_CLIENT];
        assert_true(received - s.sent[PROXY_TO_CLIENT] <= 2 * 65536);
        poll(NULL, 0, 1);
    }
    assert_true(received < 4 * (uint64_t)BIG_SIZE);
    while (heard < 4 * ((uint64_t)BIG_SIZE + strlen("$8388608\r\n\r\n"))) {
        ssize_t n = recv(fd, chunk, sizeof(chunk), 0);

        assert_true(n > 0);
        heard += (uint64_t)n;
    }
    assert_comes(stats().messages[PROXY_TO_CLIENT] == 4);
    hears_nothing(fd);
    close(fd);
}

TEST_WITH(set_up, tear_down, an_unreachable_server_cuts_the_client)
{
    struct proxy_options options = {.target = "unix:/nowhere/at/all",
                                    .protocol = PROXY_RAW};
    int fd;

    proxy_close(wire);
    assert_true(proxy_open(&wire, &options, why));
    fd = call();
    assert_int_equal(ECONNRESET, end_of(fd));
    assert_comes(stats().refused == 1);
    close(fd);
    options.target = "nonsense";
    assert_false(proxy_open(&(struct proxy *){NULL}, &options, why));
    assert_non_null(strstr(why, "HOST:PORT or unix:PATH"));
}

TEST(a_target_is_an_address_with_its_port)
{
    struct proxy_target target;
    struct sockaddr_in6 six;
    struct sockaddr_in four;

    assert_true(proxy_target_find(&target, "[::1]:65535", why));
    memcpy(&six, &target.address, sizeof six);
    assert_int_equal(six.sin6_family, AF_INET6);
    assert_int_equal(ntohs(six.sin6_port), 65535);
    assert_memory_equal(&six.sin6_addr, &in6addr_loopback, sizeof in6addr_loopback);
    assert_true(proxy_target_find(&target, "127.0.0.1:1", why));
    memcpy(&four, &target.address, sizeof four);
    assert_int_equal(four.sin_family, AF_INET);
    assert_int_equal(ntohs(four.sin_port), 1);
    assert_false(proxy_target_find(&target, "127.0.0.1:65536", why));
    assert_non_null(strstr(why, "1 to 65535"));
}

static int open_files(void)
{
    DIR *dir = opendir("/proc/self/fd");
    int count = 0;

    assert_non_null(dir);
    while (readdir(dir) != NULL)
        count++;
    closedir(dir);
    return count;
}

TEST_WITH(set_up, tear_down, closing_with_open_connections_leaves_no_descriptor)
{
    enum { COUNT = 10 };
    int fds[COUNT], before;

    tear_down(NULL);
    before = open_files();
    set_up(NULL);
    arm("hold to-client at to-server HOLD of each connection");
    for (int i = 0; i < COUNT; i++) {
        fds[i] = call();
        say(fds[i], i % 2 == 0 ? "ECHO HOLD\r\n" : "*1\r\n$4\r\nPI");
    }
    assert_comes(stats().strikes == COUNT / 2);
    proxy_close(wire);
    wire = NULL;
    for (int i = 0; i < COUNT; i++) {
        assert_int_equal(ECONNRESET, end_of(fds[i]));
        close(fds[i]);
    }
    assert_int_equal(before, open_files());
}

GROUP(start_server, stop_server)
