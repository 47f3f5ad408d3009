/* SPDX-License-Identifier: MIT */
/* redis_server.h -- starts a Redis server for one test, which may stop, kill and restart it; and
 * waits for states. */
#ifndef TESTS_UNIT_REDIS_SERVER_H
#define TESTS_UNIT_REDIS_SERVER_H

#include <hiredis/hiredis.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/os/clock.h"
#include "tests/registered.h"

enum { PATIENCE_MS = 10000 }; /* the limit for states that have to come */

static struct {
    char dir[40];
    char path[64];
    char url[80];
    pid_t pid;
    redisContext *side; /* a direct connection to the server */
} server;

static inline void pause_ms(int ms)
{
    struct timespec ts = {.tv_nsec = ms * 1000000L};

    nanosleep(&ts, NULL);
}

#define assert_comes(state)                                                            \
    do {                                                                               \
        int64_t end_ns_ = dlock_clock_after(dlock_clock_ns(), PATIENCE_MS);            \
        while (!(state)) {                                                             \
            assert_true(dlock_clock_ns() < end_ns_);                                   \
            pause_ms(1);                                                               \
        }                                                                              \
    } while (0)

static inline bool is_server_up(void)
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

static inline void start_server(void)
{
    server.pid = fork();
    assert_true(server.pid >= 0);
    if (server.pid == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        if (freopen("/dev/null", "w", stdout) != NULL)
            execlp("redis-server", "redis-server", "--port", "0", "--unixsocket",
                   server.path, "--save", "", "--dir", server.dir, (char *)NULL);
        _exit(127);
    }
    assert_comes(is_server_up());
}

static inline void kill_server(void)
{
    kill(server.pid, SIGKILL);
    waitpid(server.pid, NULL, 0);
    redisFree(server.side);
    unlink(server.path);
}

static inline void stop_server(void)
{
    kill(server.pid, SIGSTOP);
    waitpid(server.pid, NULL, WUNTRACED);
}

/* Make a directory, and start the server in it. */
static inline void make_server(void)
{
    strcpy(server.dir, "/tmp/seckill-redis-XXXXXX");
    assert_non_null(mkdtemp(server.dir));
    snprintf(server.path, sizeof(server.path), "%s/s", server.dir);
    snprintf(server.url, sizeof(server.url), "unix://%s", server.path);
    start_server();
}

/* Send a command; return the integer of its reply, or the number of lines of its text. */
static inline long long tell(const char *command)
{
    redisReply *reply = redisCommand(server.side, command);
    long long number;

    assert_non_null(reply);
    number = reply->integer;
    if (reply->type == REDIS_REPLY_STRING)
        for (const char *at = reply->str; *at != '\0'; at++)
            number += *at == '\n';
    freeReplyObject(reply);
    return number;
}

#endif /* TESTS_UNIT_REDIS_SERVER_H */
