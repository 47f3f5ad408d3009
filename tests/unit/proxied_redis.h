/* SPDX-License-Identifier: MIT */
/* proxied_redis.h -- a Redis for one test behind a proxy, and a client that uses it. */
#ifndef TESTS_UNIT_PROXIED_REDIS_H
#define TESTS_UNIT_PROXIED_REDIS_H

#include <arpa/inet.h>
#include <dirent.h>
#include <errno.h>
#include <hiredis/hiredis.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/os/clock.h"
#include "loadtest/proxy/proxy.h"
#include "lock/dlock.h"
#include "tests/registered.h"
#include "tests/unit/awaited.h"

enum { PATIENCE_MS = 10000, ABSENCE_MS = 50, BIG_SIZE = 8 << 20 };

static struct {
    char dir[40], path[64], target[80];
    pid_t pid;
    redisContext *side; /* a direct connection to the server */
} server;

static struct proxy *wire;
static char why[PROXY_WHY_MAX];

/* ---- the server ---- */

static inline bool is_up(void)
{
    redisContext *side = redisConnectUnix(server.path);

    if (side != NULL && side->err == 0) {
        server.side = side;
        return true;
    }
    if (side != NULL)
        redisFree(side);
    return false;
}

static inline int start_server(void **state)
{
    (void)state;
    alarm(120); /* a hang ends the program by a signal */
    strcpy(server.dir, "/tmp/seckill-proxy-XXXXXX");
    assert_non_null(mkdtemp(server.dir));
    snprintf(server.path, sizeof(server.path), "%s/s", server.dir);
    snprintf(server.target, sizeof(server.target), "unix:%s", server.path);
    server.pid = fork();
    assert_true(server.pid >= 0);
    if (server.pid == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        if (freopen("/dev/null", "w", stdout) != NULL)
            execlp("redis-server", "redis-server", "--port", "0", "--unixsocket",
                   server.path, "--save", "", "--dir", server.dir, (char *)NULL);
        _exit(127);
    }
    assert_comes(is_up());
    return 0;
}

static inline int stop_server(void **state)
{
    (void)state;
    redisFree(server.side);
    kill(server.pid, SIGKILL);
    waitpid(server.pid, NULL, 0);
    unlink(server.path);
    rmdir(server.dir);
    return 0;
}

static inline long long tell(const char *command)
{
    redisReply *reply = redisCommand(server.side, command);
    long long number;

    assert_non_null(reply);
    number = reply->integer;
    freeReplyObject(reply);
    return number;
}

static inline int set_up(void **state)
{
    struct proxy_options options = {.target = server.target, .protocol = PROXY_REDIS};

    (void)state;
    tell("FLUSHALL");
    assert_true(proxy_open(&wire, &options, why));
    return 0;
}

static inline int tear_down(void **state)
{
    (void)state;
    proxy_close(wire);
    return 0;
}

/* ---- a client ---- */

static inline int call(void)
{
    struct sockaddr_in address = {.sin_family = AF_INET,
                                  .sin_port = htons((uint16_t)proxy_port(wire)),
                                  .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

    assert_true(fd >= 0);
    assert_int_equal(0, connect(fd, (struct sockaddr *)&address, sizeof(address)));
    return fd;
}

static inline void say(int fd, const char *text)
{
    assert_int_equal(strlen(text), send(fd, text, strlen(text), MSG_NOSIGNAL));
}

static inline void hears(int fd, const char *text)
{
    char got[256] = "";
    size_t have = 0;

    while (have < strlen(text)) {
        struct pollfd polled = {.fd = fd, .events = POLLIN};
        ssize_t n;

        assert_int_equal(1, poll(&polled, 1, PATIENCE_MS));
        n = recv(fd, got + have, strlen(text) - have, 0);
        assert_true(n > 0);
        have += (size_t)n;
    }
    assert_string_equal(text, got);
}

static inline void hears_nothing(int fd)
{
    struct pollfd polled = {.fd = fd, .events = POLLIN};

    assert_int_equal(0, poll(&polled, 1, ABSENCE_MS));
}

/* Wait for the end of the connection: 0 if it was closed in order; else the errno. */
static inline int end_of(int fd)
{
    struct pollfd polled = {.fd = fd, .events = POLLIN};
    char byte;
    ssize_t n;

    assert_int_equal(1, poll(&polled, 1, PATIENCE_MS));
    n = recv(fd, &byte, 1, 0);
    assert_true(n <= 0);
    return n < 0 ? errno : 0;
}

static inline int arm(const char *fault)
{
    int number = proxy_arm(wire, fault, why);

    assert_true(number >= 0);
    return number;
}

static inline struct proxy_stats stats(void)
{
    struct proxy_stats s;

    proxy_read_stats(wire, &s);
    return s;
}

#endif /* TESTS_UNIT_PROXIED_REDIS_H */
