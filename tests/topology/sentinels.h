/* SPDX-License-Identifier: MIT */
/* sentinels.h -- starts a master, two replicas and three Sentinels for one test, which may kill,
 * stop and ask them; and waits for states. */
#ifndef TESTS_TOPOLOGY_SENTINELS_H
#define TESTS_TOPOLOGY_SENTINELS_H

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
#include "loadtest/kit/port.h"
#include "tests/registered.h"
#include "tests/unit/scratch.h"

enum {
    PATIENCE_MS = 30000, /* the limit for states that have to come */
    REDIS_COUNT = 3,
    SENTINEL_COUNT = 3,
    SERVER_COUNT = REDIS_COUNT + SENTINEL_COUNT, /* the Redis servers come first */
    PATH_SIZE = 96,
};

static struct {
    char dir[SCRATCH_SIZE];
    char url[128];
    int ports[SERVER_COUNT];
    pid_t pids[SERVER_COUNT];
} company;

#define assert_comes(state)                                                            \
    do {                                                                               \
        int64_t end_ns_ = dlock_clock_after(dlock_clock_ns(), PATIENCE_MS);            \
        while (!(state)) {                                                             \
            assert_true(dlock_clock_ns() < end_ns_);                                   \
            pause_ms(5);                                                               \
        }                                                                              \
    } while (0)

static inline void pause_ms(int ms)
{
    struct timespec ts = {.tv_sec = ms / 1000, .tv_nsec = ms % 1000 * 1000000L};

    nanosleep(&ts, NULL);
}

/* Send a command to server `i`. Returns the integer of an integer reply; for a text 1 if it
 * contains `text`, for an array 1 if its second element is `text`, else 0; and -1 without an answer
 * or after an error. */
static inline long long ask(int i, const char *text, const char *command)
{
    struct timeval limit = {.tv_usec = 500000};
    redisContext *side = redisConnectWithTimeout("127.0.0.1", company.ports[i], limit);
    redisReply *reply = NULL;
    long long number = -1;

    if (side != NULL && side->err == 0 && redisSetTimeout(side, limit) == REDIS_OK)
        reply = redisCommand(side, command);
    if (reply != NULL && reply->type == REDIS_REPLY_INTEGER)
        number = reply->integer;
    else if (reply != NULL && reply->str != NULL && reply->type != REDIS_REPLY_ERROR)
        number = strstr(reply->str, text) != NULL;
    else if (reply != NULL && reply->type == REDIS_REPLY_ARRAY && reply->elements > 1)
        number = strcmp(reply->element[1]->str != NULL ? reply->element[1]->str : "", text) == 0;
    freeReplyObject(reply);
    if (side != NULL)
        redisFree(side);
    return number;
}

static inline void write_config(int i, int master)
{
    char path[PATH_SIZE];
    FILE *file;

    snprintf(path, sizeof(path), "%s/%d.conf", company.dir, i);
    file = fopen(path, "w");
    assert_non_null(file);
    fprintf(file, "bind 127.0.0.1\nport %d\ndir %s\n", company.ports[i], company.dir);
    if (i >= REDIS_COUNT)
        fprintf(file, "sentinel monitor shop 127.0.0.1 %d 2\n"
                "sentinel down-after-milliseconds shop 1000\n"
                "sentinel failover-timeout shop 5000\n", company.ports[master]);
    else
        fprintf(file, "save \"\"\nappendonly no\nrepl-diskless-sync-delay 0\n"
                "dbfilename %d.rdb\n", i);
    if (i < REDIS_COUNT && i != master)
        fprintf(file, "replicaof 127.0.0.1 %d\n", company.ports[master]);
    fclose(file);
}

static inline void launch(int i)
{
    char path[PATH_SIZE];

    snprintf(path, sizeof(path), "%s/%d.conf", company.dir, i);
    company.pids[i] = fork();
    assert_true(company.pids[i] >= 0);
    if (company.pids[i] == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        if (freopen("/dev/null", "w", stdout) != NULL)
            execlp("redis-server", "redis-server", path,
                   i < REDIS_COUNT ? NULL : "--sentinel", (char *)NULL);
        _exit(127);
    }
}

static inline void await_end(int i)
{
    waitpid(company.pids[i], NULL, 0);
    company.pids[i] = 0;
}

static inline void kill_server(int i)
{
    kill(company.pids[i], SIGKILL);
    await_end(i);
}

/* Does Sentinel `i` know both replicas, and both other Sentinels? */
static inline bool is_complete(int i)
{
    return ask(i, "slaves=2,sentinels=3", "INFO sentinel") == 1 &&
           ask(i, "OK", "SENTINEL CKQUORUM shop") == 1;
}

static inline int start_company(void **state)
{
    size_t len;

    (void)state;
    memset(&company, 0, sizeof(company));
    scratch_make(company.dir, "sentinels");
    for (int i = 0; i < SERVER_COUNT; i++)
        assert_true(port_hold(&company.ports[i]) >= 0);
    for (int i = 0; i < REDIS_COUNT; i++) {
        write_config(i, 0);
        launch(i);
    }
    assert_comes(ask(0, "connected_slaves:2", "INFO replication") == 1);
    for (int i = 1; i < REDIS_COUNT; i++)
        assert_comes(ask(i, "master_link_status:up", "INFO replication") == 1);
    snprintf(company.url, sizeof(company.url), "redis-sentinel://");
    for (int i = REDIS_COUNT; i < SERVER_COUNT; i++) {
        write_config(i, 0);
        launch(i);
        len = strlen(company.url);
        snprintf(company.url + len, sizeof(company.url) - len, "%s127.0.0.1:%d",
                 i == REDIS_COUNT ? "" : ",", company.ports[i]);
    }
    len = strlen(company.url);
    snprintf(company.url + len, sizeof(company.url) - len, "/shop");
    for (int i = REDIS_COUNT; i < SERVER_COUNT; i++)
        assert_comes(is_complete(i));
    return 0;
}

static inline int end_company(void **state)
{
    (void)state;
    for (int i = 0; i < SERVER_COUNT; i++)
        if (company.pids[i] > 0)
            kill_server(i);
    scratch_remove(company.dir);
    return 0;
}

/* Does a Sentinel name another master than server 0? */
static inline bool is_switched(void)
{
    char port[12];

    snprintf(port, sizeof(port), "%d", company.ports[0]);
    for (int i = REDIS_COUNT; i < SERVER_COUNT; i++)
        if (ask(i, port, "SENTINEL get-master-addr-by-name shop") == 0)
            return true;
    return false;
}

#endif /* TESTS_TOPOLOGY_SENTINELS_H */
