/* SPDX-License-Identifier: MIT */
/* jobs.c -- runs cases side by side, each in a process of its own, and prints TAP. */
#include "tests/jobs.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

enum { LINE_SIZE = 1000 };

/* A case that was started. */
struct process {
    pid_t pid; /* 0: it has ended */
    FILE *out; /* what it prints */
};

static struct {
    const struct jobs *jobs;
    struct process *processes; /* one for each case */
    size_t started;
    size_t ended;
    size_t failed;
    unsigned taken; /* what the cases that run must not share */
} run;

static unsigned alone_with(size_t which)
{
    return run.jobs->alone_with != NULL ? run.jobs->alone_with(which) : 0;
}

/* The case to start next: cases that share nothing first, since they come one after another.
 * Returns `count` if no case may start now. */
static size_t find_next(void)
{
    size_t plain = run.jobs->count;

    for (size_t i = 0; i < run.jobs->count; i++) {
        if (run.processes[i].out != NULL)
            continue;
        if (alone_with(i) != 0 && !(alone_with(i) & run.taken))
            return i;
        if (alone_with(i) == 0 && plain == run.jobs->count)
            plain = i;
    }
    return plain;
}

static bool start(size_t which)
{
    struct process *process = &run.processes[which];

    fflush(stdout);
    process->out = tmpfile();
    process->pid = process->out != NULL ? fork() : -1;
    if (process->pid == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        dup2(fileno(process->out), STDOUT_FILENO);
        dup2(fileno(process->out), STDERR_FILENO);
        setvbuf(stdout, NULL, _IOLBF, 0);
        exit(run.jobs->run(which));
    }
    if (process->pid < 0) {
        perror("# a case cannot be started");
        return false;
    }
    run.started++;
    run.taken |= alone_with(which);
    return true;
}

/* cmocka's own result of a group of one test. */
static bool is_frame(const char *line)
{
    static const char *const FRAMES[] = {"1..1", "ok 1 - ", "not ok 1 - ", "# ok - ",
                                         "# not ok - "};

    for (size_t i = 0; i < sizeof(FRAMES) / sizeof(FRAMES[0]); i++)
        if (strncmp(line, FRAMES[i], strlen(FRAMES[i])) == 0)
            return true;
    return false;
}

static void show(FILE *out, bool passed)
{
    static const char ANEW[] = "# begun anew: ";
    char line[LINE_SIZE];

    rewind(out);
    while (fgets(line, sizeof(line), out) != NULL) {
        line[strcspn(line, "\n")] = '\0';
        if (strncmp(line, ANEW, strlen(ANEW)) == 0)
            puts(line);
        else if (!passed && !is_frame(line))
            printf("#   %s\n", line + (strncmp(line, "# ", 2) == 0 ? 2 : 0));
    }
}

static void judge(size_t which, int status)
{
    struct process *process = &run.processes[which];
    bool passed = WIFEXITED(status) && WEXITSTATUS(status) == 0;

    run.ended++;
    run.failed += !passed;
    process->pid = 0;
    run.taken &= ~alone_with(which);
    printf("%s %zu - %s\n", passed ? "ok" : "not ok", run.ended, run.jobs->name(which));
    show(process->out, passed);
    if (WIFSIGNALED(status))
        printf("#   ended by signal %d: %s\n", WTERMSIG(status),
               WTERMSIG(status) == SIGALRM ? "it reached the limit of a case"
                                           : strsignal(WTERMSIG(status)));
    else if (!passed && WEXITSTATUS(status) != 1)
        printf("#   ended with exit code %d\n", WEXITSTATUS(status));
    fflush(stdout);
    fclose(process->out);
    process->out = stdout; /* it was started */
}

/* Wait until a process ends, which is a case or another child of this process. */
static void reap(void)
{
    int status;
    pid_t pid = waitpid(-1, &status, 0);

    for (size_t i = 0; pid > 0 && i < run.jobs->count; i++)
        if (run.processes[i].pid == pid)
            judge(i, status);
}

static void end_others(void)
{
    printf("Bail out! --fail-fast: %zu cases were ended, and %zu did not begin\n",
           run.started - run.ended, run.jobs->count - run.started);
    fflush(stdout);
    for (size_t i = 0; i < run.jobs->count; i++)
        if (run.processes[i].pid > 0)
            kill(run.processes[i].pid, SIGTERM);
    for (size_t i = 0; i < run.jobs->count; i++)
        if (run.processes[i].pid > 0)
            waitpid(run.processes[i].pid, NULL, 0);
}

/* Start as many cases as may run now. Returns false if the system cannot start one. */
static bool start_some(void)
{
    size_t next;

    while (run.started - run.ended < run.jobs->at_once && (next = find_next()) < run.jobs->count)
        if (!start(next))
            return false;
    return true;
}

int jobs_run(const struct jobs *jobs)
{
    bool may_start = true;

    memset(&run, 0, sizeof(run));
    run.jobs = jobs;
    run.processes = calloc(jobs->count + 1, sizeof(*run.processes));
    if (run.processes == NULL)
        return 1;
    printf("1..%zu\n", jobs->count);
    while (true) {
        may_start = may_start && start_some();
        if (run.started == run.ended)
            break;
        reap();
        if (jobs->fail_fast && run.failed > 0) {
            end_others();
            break;
        }
    }
    free(run.processes);
    return run.failed == 0 && run.ended == jobs->count ? 0 : 1;
}
