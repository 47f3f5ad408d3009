/* SPDX-License-Identifier: MIT */
/* etcd_members.h -- starts three members of an etcd for one test, which may kill, stop and restart
 * them; and waits for states. */
#ifndef TESTS_TOPOLOGY_ETCD_MEMBERS_H
#define TESTS_TOPOLOGY_ETCD_MEMBERS_H

#include <fcntl.h>
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
#include "loadtest/kit/http_client.h"
#include "loadtest/kit/port.h"
#include "tests/registered.h"
#include "tests/unit/scratch.h"

enum { PATIENCE_MS = 30000, MEMBERS = 3, URL_SIZE = 48, URLS_SIZE = 128, ANSWER_MS = 500 };

static struct {
    char dir[SCRATCH_SIZE];
    char urls[URLS_SIZE]; /* in the form of dlock_options.etcd_url */
    int ports[MEMBERS];
    pid_t pids[MEMBERS];  /* 0: the member does not run */
    bool joins[MEMBERS];  /* the member was added to a cluster that existed already */
    bool founds[MEMBERS]; /* the member is the only one of a cluster of its own */
} company;

#define assert_comes(state)                                                            \
    do {                                                                               \
        int64_t end_ns_ = dlock_clock_after(dlock_clock_ns(), PATIENCE_MS);            \
        while (!(state)) {                                                             \
            if (dlock_clock_ns() > end_ns_)                                            \
                fail_msg("did not come: %s", #state);                                  \
            pause_ms(5);                                                               \
        }                                                                              \
    } while (0)

static inline void pause_ms(int ms)
{
    struct timespec ts = {.tv_sec = ms / 1000, .tv_nsec = ms % 1000 * 1000000L};

    nanosleep(&ts, NULL);
}

/* Does the member's answer at `path` contain `text`? */
static inline bool says(int i, const char *path, const char *text)
{
    char url[URL_SIZE + 32];
    char *answer;
    bool found;

    snprintf(url, sizeof(url), "http://127.0.0.1:%d%s", company.ports[i], path);
    answer = http_client_read(url, NULL, ANSWER_MS);
    found = answer != NULL && strstr(answer, text) != NULL;
    free(answer);
    return found;
}

static inline bool is_well(int i)
{
    return says(i, "/health", "\"true\"");
}

/* The member that is the leader; -1: no member says that it is. */
static inline int leader(void)
{
    for (int i = 0; i < MEMBERS; i++)
        if (company.pids[i] != 0 && says(i, "/metrics", "\netcd_server_is_leader 1"))
            return i;
    return -1;
}

/* The members are connected over Unix sockets in the directory. */
static inline void launch(int i)
{
    char name[16], client[URL_SIZE], peer[URL_SIZE], log[16], alone[URL_SIZE];

    snprintf(name, sizeof(name), "e%d", i);
    snprintf(log, sizeof(log), "e%d.log", i);
    snprintf(client, sizeof(client), "http://127.0.0.1:%d", company.ports[i]);
    snprintf(peer, sizeof(peer), "unix://peer-%d:1", i);
    snprintf(alone, sizeof(alone), "e%d=unix://peer-%d:1", i, i);
    company.pids[i] = fork();
    assert_true(company.pids[i] >= 0);
    if (company.pids[i] != 0)
        return;
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (chdir(company.dir) != 0 ||
        dup2(open(log, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600), STDERR_FILENO) < 0)
        _exit(127);
    execlp("etcd", "etcd", "--name", name, "--data-dir", name, "--listen-client-urls", client,
           "--advertise-client-urls", client, "--listen-peer-urls", peer,
           "--initial-advertise-peer-urls", peer, "--initial-cluster",
           company.founds[i] ? alone : "e0=unix://peer-0:1,e1=unix://peer-1:1,e2=unix://peer-2:1",
           "--initial-cluster-state", company.joins[i] ? "existing" : "new", "--heartbeat-interval",
           "50", "--election-timeout", "500", "--logger", "zap", "--log-level", "error",
           (char *)NULL);
    _exit(127);
}

static inline void start_company(void)
{
    memset(&company, 0, sizeof(company));
    scratch_make(company.dir, "etcd");
    for (int i = 0; i < MEMBERS; i++)
        assert_true(port_hold(&company.ports[i]) >= 0);
    snprintf(company.urls, sizeof(company.urls),
             "http://127.0.0.1:%d,127.0.0.1:%d,127.0.0.1:%d", company.ports[0],
             company.ports[1], company.ports[2]);
    for (int i = 0; i < MEMBERS; i++)
        launch(i);
    for (int i = 0; i < MEMBERS; i++)
        assert_comes(is_well(i));
}

static inline void kill_member(int i)
{
    kill(company.pids[i], SIGKILL);
    waitpid(company.pids[i], NULL, 0);
    company.pids[i] = 0;
}

static inline void pause_member(int i)
{
    kill(company.pids[i], SIGSTOP);
    waitpid(company.pids[i], NULL, WUNTRACED);
}

/* Delete everything that a member has on its disk. */
static inline void wipe_member(int i)
{
    char command[96];

    snprintf(command, sizeof(command), "rm -rf %s/e%d", company.dir, i);
    assert_int_equal(0, system(command));
}

/* Start the members that do not run, continue those that are stopped, and wait until all are
 * healthy. */
static inline void mend_company(void)
{
    for (int i = 0; i < MEMBERS; i++) {
        if (company.pids[i] == 0)
            launch(i);
        else
            kill(company.pids[i], SIGCONT);
    }
    for (int i = 0; i < MEMBERS; i++)
        assert_comes(is_well(i));
}

static inline void end_company(void)
{
    for (int i = 0; i < MEMBERS; i++)
        if (company.pids[i] != 0)
            kill_member(i);
    if (company.dir[0] != '\0')
        scratch_remove(company.dir);
}

/* The fixtures of a group of tests, and of each of its tests. */
static inline int set_up(void **state)
{
    (void)state;
    signal(SIGPIPE, SIG_IGN);
    start_company();
    return 0;
}

static inline int tear_down(void **state)
{
    (void)state;
    end_company();
    return 0;
}

static inline int mend(void **state)
{
    (void)state;
    mend_company();
    return 0;
}

#endif /* TESTS_TOPOLOGY_ETCD_MEMBERS_H */
