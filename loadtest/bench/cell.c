/* SPDX-License-Identifier: MIT */
/* cell.c -- a part of a measurement, in a process of its own. */
#include "loadtest/bench/cell.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/text/duration.h"
#include "loadtest/kit/interrupt.h"
#include "loadtest/kit/why.h"

enum { TICK_MS = 20 };

void *cell_share(size_t size)
{
    void *shared =
        mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);

    if (shared == MAP_FAILED)
        abort();
    return shared;
}

void cell_unshare(void *shared, size_t size)
{
    munmap(shared, size);
}

/* Give the child a session of its own, so that Ctrl-C reaches only the parent. */
static void become(pid_t parent)
{
    setsid();
    signal(SIGINT, SIG_DFL);
    signal(SIGTERM, SIG_DFL);
    signal(SIGHUP, SIG_DFL);
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent)
        _exit(EXIT_BUG); /* the parent died before PR_SET_PDEATHSIG was set */
}

bool cell_start(struct child *child, cell_fn *run, const void *plan, void *shared)
{
    pid_t parent = getpid();
    pid_t pid;

    fflush(NULL);
    pid = fork();
    if (pid == 0) {
        become(parent);
        _exit((int)run(plan, shared));
    }
    if (pid < 0) {
        eprintf("seckill: cannot fork: %s\n", strerror(errno));
        return false;
    }
    *child = (struct child){pid, child_start_time(pid)};
    return true;
}

enum exit_code cell_wait(struct child *child, int64_t limit_ms, const char *name)
{
    int64_t deadline_ns = monotonic_ns() + limit_ms * 1000000;
    int status = -1;

    while (!child_wait(child, TICK_MS, &status)) {
        if (!interrupted() && monotonic_ns() < deadline_ns)
            continue;
        child_end(child, SIGKILL, 1000);
        if (interrupted())
            return EXIT_INTERRUPTED;
        eprintf("seckill: %s: no end after %d s\n", name, (int)(limit_ms / 1000));
        return EXIT_BUG;
    }
    if (WIFEXITED(status))
        return (enum exit_code)WEXITSTATUS(status);
    eprintf("seckill: %s: killed by signal %d\n", name, WTERMSIG(status));
    return EXIT_BUG;
}
