/* SPDX-License-Identifier: MIT */
/* test_interrupt.c -- one signal ends a sleep, whichever thread gets the signal. */
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "loadtest/kit/interrupt.h"
#include "tests/registered.h"

enum { LONG_MS = 60000, PATIENCE_S = 30, STAT_MAX = 512 };

/* Does the process's first thread sleep in a system call? */
static bool main_sleeps(void)
{
    char path[64], text[STAT_MAX] = "";
    const char *state;
    FILE *file;

    snprintf(path, sizeof path, "/proc/self/task/%d/stat", (int)getpid());
    file = fopen(path, "re");
    if (file) {
        if (!fgets(text, sizeof text, file))
            text[0] = '\0';
        fclose(file);
    }
    state = strrchr(text, ')');
    return state && state[1] == ' ' && state[2] == 'S';
}

static void *signal_oneself(void *arg)
{
    (void)arg;
    while (!main_sleeps())
        usleep(1000);
    pthread_kill(pthread_self(), SIGTERM);
    return NULL;
}

/* Returns 0 if the sleep ended early and reported this. */
static int sleep_while_another_thread_is_signalled(void)
{
    pthread_t thread;
    bool slept;

    alarm(PATIENCE_S); /* ends the process by SIGALRM */
    interrupt_catch();
    if (pthread_create(&thread, NULL, signal_oneself, NULL) != 0)
        return 2;
    slept = interrupt_sleep_ms(LONG_MS);
    pthread_join(thread, NULL);
    return slept ? 1 : 0;
}

TEST(a_signal_to_another_thread_ends_the_sleep)
{
    int status = -1;
    pid_t child;

    child = fork();
    if (child == 0)
        _exit(sleep_while_another_thread_is_signalled());
    assert_true(child > 0);
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), 0);
}

/* Returns 0 if a signal to a child of this process did not shorten the sleep. */
static int sleep_after_a_child_was_signalled(void)
{
    pid_t child;
    int status;

    alarm(PATIENCE_S);
    interrupt_catch();
    child = fork();
    if (child == 0) {
        raise(SIGTERM);
        _exit(interrupted() ? 0 : 1);
    }
    if (child < 0 || waitpid(child, &status, 0) != child || status != 0)
        return 2;
    return interrupt_sleep_ms(1) ? 0 : 1;
}

TEST(a_signal_to_a_child_is_the_childs)
{
    int status = -1;
    pid_t child;

    child = fork();
    if (child == 0)
        _exit(sleep_after_a_child_was_signalled());
    assert_true(child > 0);
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), 0);
}
