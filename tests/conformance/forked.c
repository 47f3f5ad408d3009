/* SPDX-License-Identifier: MIT */
#include "tests/conformance/forked.h"

#include <signal.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/conformance/rig.h"

enum {
#ifdef __SANITIZE_ADDRESS__
    TRIES = 5, /* about one child in 500 hangs */
#else
    TRIES = 1,
#endif
    CHILD_LIMIT_S = 60,
};

static int fork_once(int (*run)(void *data), void *data)
{
    int status = 0;
    pid_t pid = fork();

    assert_true(pid >= 0);
    if (pid == 0) {
        alarm(CHILD_LIMIT_S); /* fork() does not pass the parent's alarm() to the child */
        _exit(run(data));
    }
    assert_int_equal(pid, waitpid(pid, &status, 0));
    return status;
}

int forked_answer(int (*run)(void *data), void *data)
{
    int status = 0;

    for (int try = 0; try < TRIES; try++) {
        status = fork_once(run, data);
        if (!WIFSIGNALED(status) || WTERMSIG(status) != SIGALRM)
            break;
        fprintf(stderr, "# a forked child hung for %d s\n", CHILD_LIMIT_S);
    }
    assert_true(WIFEXITED(status));
    return WEXITSTATUS(status);
}
