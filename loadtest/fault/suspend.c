/* SPDX-License-Identifier: MIT */
/* suspend.c -- a server that is stopped for a while, and continued in every case. */
#include "loadtest/fault/suspend.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "loadtest/kit/why.h"


enum {
    STOP_TRIES = 1000,
    STOP_PAUSE_NS = 1000000,
    END_MS = 5000,
    STOPPED_MAX = CHILD_CHILDREN_MAX + 1, /* the server and its children */
};

/* In the helper process: remember the processes that are told on the pipe, and continue
 * them, the last first, when the pipe ends.  After a fork in a program with threads only
 * async-signal-safe calls are allowed. */
static void wait_and_continue(int line)
{
    pid_t pids[STOPPED_MAX + 1]; /* room for a read at the end of the pipe */
    size_t count = 0;
    ssize_t n;

    setsid(); /* out of reach of Ctrl-C */
    /* The descriptors that were open here, such as the lab's lock, are not kept open. */
    close_range(STDERR_FILENO + 1, (unsigned)line - 1, 0);
    close_range((unsigned)line + 1, ~0u, 0);
    signal(SIGTERM, SIG_IGN);
    signal(SIGHUP, SIG_IGN);
    for (;;) {
        n = read(line, &pids[count], sizeof pids[count]);
        if (n == (ssize_t)sizeof pids[count] && count < STOPPED_MAX)
            count++;
        else if (n == 0 || (n < 0 && errno != EINTR))
            break;
    }
    while (count > 0)
        kill(pids[--count], SIGCONT);
    _exit(0);
}

static bool start_helper(struct suspend *s)
{
    int line[2];
    pid_t pid;

    if (pipe2(line, O_CLOEXEC) != 0)
        return false;
    pid = fork();
    if (pid == 0) {
        close(line[1]);
        wait_and_continue(line[0]);
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

/* The helper knows of the process before the process is stopped. */
static bool stop(struct suspend *s, const struct child *process)
{
    const struct timespec pause = {.tv_nsec = STOP_PAUSE_NS};

    if (write(s->line, &process->pid, sizeof process->pid) < 0)
        return false;
    child_signal(process, SIGSTOP);
    for (int i = 0; i < STOP_TRIES; i++) {
        char state = child_state(process);

        if (state == 'T' || state == 0)
            return true; /* a child may have ended meanwhile */
        nanosleep(&pause, NULL);
    }
    eprintf("seckill: process %d does not stop\n", (int)process->pid);
    return false;
}

bool suspend_begin(struct suspend *s, const struct child *server)
{
    struct child children[CHILD_CHILDREN_MAX];
    size_t count;
    bool ok;

    if (!start_helper(s)) {
        eprintf("seckill: cannot start a helper: %s\n", strerror(errno));
        return false;
    }
    ok = stop(s, server) && child_state(server) == 'T';
    /* The server has no new children now. */
    count = ok ? child_children(server, children) : 0;
    for (size_t i = 0; i < count; i++)
        ok = stop(s, &children[i]) && ok;
    if (!ok)
        suspend_end(s);
    return ok;
}

bool suspend_end(struct suspend *s)
{
    if (s->helper.pid == 0)
        return false;
    close(s->line);
    child_wait(&s->helper, END_MS, NULL);
    s->helper.pid = 0;
    return true;
}
