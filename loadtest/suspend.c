/* SPDX-License-Identifier: MIT */
/* suspend.c -- a server that hangs for a while: it is stopped, and certainly continued.
 */
#include "loadtest/suspend.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { STOP_TRIES = 1000, STOP_PAUSE_NS = 1000000, END_MS = 5000 };

/* In the helper.  Only what is allowed after a fork in a program with threads. */
static void wait_and_continue(const struct child *server, int line)
{
    char byte;

    setsid(); /* out of reach of Ctrl-C */
    signal(SIGTERM, SIG_IGN);
    signal(SIGHUP, SIG_IGN);
    while (read(line, &byte, 1) < 0 && errno == EINTR)
        ;
    kill(server->pid, SIGCONT);
    _exit(0);
}

static bool start_helper(struct suspend *s, const struct child *server)
{
    int line[2];
    pid_t pid;

    if (pipe2(line, O_CLOEXEC) != 0)
        return false;
    pid = fork();
    if (pid == 0) {
        close(line[1]);
        wait_and_continue(server, line[0]);
    }
    close(line[0]);
    if (pid < 0) {
        close(line[1]);
        return false;
    }
    s->line = line[1];
    s->helper = (struct child){pid, child_start_time(pid)};
    return true;
}

bool suspend_begin(struct suspend *s, const struct child *server)
{
    const struct timespec pause = {.tv_nsec = STOP_PAUSE_NS};

    if (!start_helper(s, server)) {
        fprintf(stderr, "seckill: cannot start a helper: %s\n", strerror(errno));
        return false;
    }
    child_signal(server, SIGSTOP);
    for (int i = 0; i < STOP_TRIES; i++) {
        if (child_state(server) == 'T')
            return true;
        nanosleep(&pause, NULL);
    }
    fprintf(stderr, "seckill: process %d does not stop\n", (int)server->pid);
    suspend_end(s);
    return false;
}

void suspend_end(struct suspend *s)
{
    close(s->line);
    child_wait(&s->helper, END_MS, NULL);
}
