/* SPDX-License-Identifier: MIT */
/* replica.c -- a replica of the Redis server that a law has started. */
#include "tests/conformance/replica.h"

#include <fcntl.h>
#include <hiredis/hiredis.h>
#include <signal.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/conformance/rig.h"
#include "tests/conformance/servers.h"
#include "tests/unit/scratch.h"

enum { FIRST_PORT = 20000, PORTS = 12000 };

static struct {
    char dir[SCRATCH_SIZE];
    char path[80];
    pid_t pid;
} replica;

/* Replication needs a port of the master, and servers.c starts the master without one. Another
 * process may take any port at any time, so several ports are tried. */
static int open_port(void)
{
    for (int i = 0; i < PORTS; i++) {
        int port = FIRST_PORT + (int)((unsigned)getpid() * 7u + (unsigned)i) % PORTS;
        const redisReply *reply = servers_tell(0, "CONFIG SET port %d", port);

        if (reply->type == REDIS_REPLY_STATUS)
            return port;
    }
    fail_msg("no port is free");
    return 0;
}

static void run_replica(const char *port)
{
    int nowhere = open("/dev/null", O_WRONLY);

    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (nowhere < 0 || dup2(nowhere, STDOUT_FILENO) < 0)
        _exit(127);
    execlp("redis-server", "redis-server", "--port", "0", "--unixsocket", replica.path, "--save",
           "", "--dir", replica.dir, "--replicaof", "127.0.0.1", port, (char *)NULL);
    _exit(127);
}

void replica_start(void)
{
    char port[12];

    snprintf(port, sizeof(port), "%d", open_port());
    (void)servers_tell(0, "CONFIG SET repl-diskless-sync-delay 0");
    scratch_make(replica.dir, "replica");
    snprintf(replica.path, sizeof(replica.path), "%s/s", replica.dir);
    replica.pid = fork();
    assert_true(replica.pid >= 0);
    if (replica.pid == 0)
        run_replica(port);
    assert_comes(servers_ask(0, "WAIT 1 20") == 1);
}

void replica_signal(int signal_number)
{
    assert_true(replica.pid > 0);
    kill(replica.pid, signal_number);
    if (signal_number == SIGSTOP)
        waitpid(replica.pid, NULL, WUNTRACED);
}

long long replica_count_keys(const char *name)
{
    redisContext *side = redisConnectUnix(replica.path);
    redisReply *reply;
    long long count;

    assert_true(side != NULL && side->err == 0);
    reply = redisCommand(side, "EXISTS %s", name);
    assert_non_null(reply);
    count = reply->integer;
    freeReplyObject(reply);
    redisFree(side);
    return count;
}

void replica_stop(void)
{
    if (replica.pid <= 0)
        return;
    kill(replica.pid, SIGKILL);
    waitpid(replica.pid, NULL, 0);
    replica.pid = 0;
    scratch_remove(replica.dir); /* with the files that the replica wrote */
}
