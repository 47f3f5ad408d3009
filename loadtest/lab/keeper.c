/* SPDX-License-Identifier: MIT */
/* keeper.c -- a process that removes a lab if its starter is killed. */
#include "loadtest/lab/lab.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>

enum { END_MS = 5000, TRIES = 60, PAUSE_MS = 200 };

/* Another process may have the lock of the lab, so one try may fail.  Only the first failure is
 * said. */
static void remove_lab(const char *dir)
{
    bool was_there;

    for (int i = 0; i < TRIES && lab_remove(dir, &was_there) == EXIT_UNAVAILABLE; i++) {
        if (i == 0)
            (void)!freopen("/dev/null", "w", stderr);
        usleep(PAUSE_MS * 1000);
    }
}

/* In the keeper.  The line ends when the starter and every process that it forked have ended, so
 * none of them starts a server while the lab is removed. */
static void keep(int line, const char *dir)
{
    char done;
    ssize_t n;

    setsid(); /* out of reach of Ctrl-C */
    /* The descriptors that were open here, such as the locks of labs, are not kept open. */
    close_range(STDERR_FILENO + 1, (unsigned)line - 1, 0);
    close_range((unsigned)line + 1, ~0u, 0);
    for (int number = 1; number < NSIG; number++)
        signal(number, number == SIGINT || number == SIGTERM || number == SIGHUP ||
                               number == SIGPIPE
                           ? SIG_IGN
                           : SIG_DFL);
    do
        n = read(line, &done, 1);
    while (n < 0 && errno == EINTR);
    if (n == 0)
        remove_lab(dir);
    _exit(EXIT_VALID);
}

bool lab_keeper_start(struct lab_keeper *keeper, const char *dir)
{
    int line[2];
    pid_t pid;

    *keeper = (struct lab_keeper){.line = -1};
    if (pipe2(line, O_CLOEXEC) != 0 || (pid = fork()) < 0) {
        eprintf("seckill: cannot start a process that removes %s: %s\n", dir, strerror(errno));
        return false;
    }
    if (pid == 0) {
        close(line[1]);
        keep(line[0], dir);
    }
    close(line[0]);
    keeper->line = line[1];
    keeper->process = (struct child){pid, child_start_time(pid)};
    return true;
}

void lab_keeper_end(struct lab_keeper *keeper, bool is_removed)
{
    if (keeper->process.pid == 0)
        return;
    /* A byte ends the keeper at once.  The end of the line alone may come later, because a process
     * that this one forked may still hold the line. */
    if (is_removed && write(keeper->line, "", 1) != 1)
        child_signal(&keeper->process, SIGKILL);
    close(keeper->line);
    child_wait(&keeper->process, END_MS, NULL);
    *keeper = (struct lab_keeper){.line = -1};
}
