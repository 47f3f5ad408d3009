/* SPDX-License-Identifier: MIT */
/* registered.c -- [--list] [--jobs=N] [PATTERN]: run the tests that the files of this program have
 * registered, and print TAP.
 *
 * PATTERN is a shell pattern; it chooses the tests of a file (test_gate), one test
 * (names_can_be_added), or both ('test_gate: a_*').  The tests of each file run in a process of
 * their own, N (2) files at the same time, so a file may change what belongs to a process: clocks,
 * signals, the environment, threads. */
#include "tests/registered.h"

#include <fnmatch.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

enum { TESTS_MAX = 2000, FILES_MAX = 200 };

/* The tests of a file that are to run, and the process that runs them. */
struct group {
    const char *file;
    char name[64]; /* of the file, without .c */
    struct CMUnitTest *tests;
    size_t count;
    struct CMUnitTest fixtures;
    pid_t pid;
    FILE *output;
};

struct result {
    bool has_ended, is_ok;
    FILE *notes; /* what the test has printed, which becomes `text` */
    char *text;
    size_t size;
};

static struct registered *registered;
static struct registered *sorted[TESTS_MAX];
static struct CMUnitTest tests[TESTS_MAX];
static struct group groups[FILES_MAX];
static size_t group_count, printed_count, failed_count;
static volatile sig_atomic_t is_to_end;

void registered_add(struct registered *one)
{
    one->next = registered;
    registered = one;
}

static int by_place(const void *a, const void *b)
{
    const struct registered *x = *(struct registered *const *)a;
    const struct registered *y = *(struct registered *const *)b;
    int order = strcmp(x->file, y->file);

    return order != 0 ? order : x->line - y->line;
}

static bool fits(const char *pattern, const char *file, const char *test)
{
    char both[256];

    snprintf(both, sizeof(both), "%s: %s", file, test);
    return fnmatch(pattern, file, 0) == 0 || fnmatch(pattern, test, 0) == 0 ||
           fnmatch(pattern, both, 0) == 0;
}

/* Begin the group of a file; one that has got no test is dropped. */
static struct group *begin_group(const char *file, struct CMUnitTest *first)
{
    const char *base = strrchr(file, '/') + 1;

    if (group_count == 0 || groups[group_count - 1].count > 0)
        group_count++;
    groups[group_count - 1] = (struct group){.file = file, .tests = first};
    snprintf(groups[group_count - 1].name, sizeof(groups[0].name), "%.*s",
             (int)strcspn(base, "."), base);
    return &groups[group_count - 1];
}

/* Put the registered tests that fit into groups; return how many fit. */
static size_t choose(const char *pattern)
{
    struct group *group = NULL;
    size_t count = 0, chosen = 0;

    for (struct registered *one = registered; one != NULL && count < TESTS_MAX; one = one->next)
        sorted[count++] = one;
    qsort(sorted, count, sizeof(sorted[0]), by_place);
    for (size_t i = 0; i < count; i++) {
        const struct CMUnitTest *test = &sorted[i]->test;

        if (group == NULL || strcmp(group->file, sorted[i]->file) != 0)
            group = begin_group(sorted[i]->file, &tests[chosen]);
        if (test->name == NULL)
            group->fixtures = *test;
        else if (fits(pattern, group->name, test->name))
            tests[chosen++] = *test, group->count++;
    }
    if (group != NULL && group->count == 0)
        group_count--;
    return chosen;
}

static void start(struct group *group)
{
    int fd = memfd_create("output", MFD_CLOEXEC);

    fflush(stdout); /* a child prints nothing of it again */
    group->pid = fork();
    if (fd < 0 || group->pid < 0) {
        perror("cannot start the tests");
        exit(70);
    }
    if (group->pid == 0) {
        signal(SIGTERM, SIG_DFL);
        dup2(fd, STDOUT_FILENO);
        dup2(fd, STDERR_FILENO);
        close(fd);
        setvbuf(stdout, NULL, _IOLBF, 0);
        exit(_cmocka_run_group_tests(group->name, group->tests, group->count,
                                     group->fixtures.setup_func,
                                     group->fixtures.teardown_func) != 0);
    }
    group->output = fdopen(fd, "r");
}

static void read_results(FILE *output, struct result *results, size_t count)
{
    char *line = NULL;
    size_t size = 0, nth = 0;
    bool is_behind = false; /* what cmocka says about a failure stands behind its result */

    rewind(output);
    while (getline(&line, &size, output) > 0) {
        bool is_result = strncmp(line, "ok ", 3) == 0 || strncmp(line, "not ok ", 7) == 0;
        size_t owner = is_behind && line[0] == '#' ? nth - 1 : nth;

        is_behind = is_result || (is_behind && line[0] == '#');
        if (strncmp(line, "1..", 3) != 0)
            fprintf(results[owner < count ? owner : count - 1].notes, "%s%s",
                    line[0] == '#' ? "" : "# ", line);
        if (is_result && nth < count) {
            results[nth].has_ended = true;
            results[nth++].is_ok = line[0] == 'o';
        }
    }
    free(line);
}

/* The test at which the process ended, or the last one if the end says that something is wrong
 * which no test has said; `count` if there is none. */
static size_t blamed(const struct result *results, size_t count, int status)
{
    size_t failures = 0, nth = 0;

    while (nth < count && results[nth].has_ended)
        failures += !results[nth++].is_ok;
    return nth == count && status != 0 && failures == 0 ? count - 1 : nth;
}

/* The threads of a failed test go on, and may crash the process: then the signal is not named, and
 * tests/programs.sh does not take the end for a crash. */
static void print_end(int status, bool has_failed)
{
    if (WIFSIGNALED(status))
        printf("# signal %d ended the process: %s\n", WTERMSIG(status),
               has_failed ? "a test had failed before" : strsignal(WTERMSIG(status)));
    else
        printf("# the process ended with status %d\n", WEXITSTATUS(status));
}

/* Print the results of a group that has ended, and below each failure the test's output. */
static void print_group(struct group *group, int status)
{
    static struct result results[TESTS_MAX];
    size_t bad, failures = 0;

    for (size_t i = 0; i < group->count; i++) {
        results[i] = (struct result){0};
        results[i].notes = open_memstream(&results[i].text, &results[i].size);
    }
    read_results(group->output, results, group->count);
    fclose(group->output);
    bad = blamed(results, group->count, status);
    for (size_t i = 0; i < group->count; i++) {
        bool is_ok = results[i].is_ok && i != bad;

        fclose(results[i].notes);
        printf("%s %zu - %s: %s\n", is_ok ? "ok" : "not ok", ++printed_count, group->name,
               group->tests[i].name);
        if (!is_ok)
            fputs(i > bad ? "# not run\n" : results[i].text, stdout);
        if (i == bad)
            print_end(status, failures > 0);
        failures += !is_ok;
        free(results[i].text);
    }
    failed_count += failures;
    fflush(stdout);
}

/* End the processes of all files. run() then prints the results so far and starts no more files. */
static void end_early(int number)
{
    is_to_end = 1;
    for (size_t i = 0; i < group_count; i++)
        if (groups[i].pid > 0)
            kill(groups[i].pid, number);
}

/* Run all groups, `jobs` at the same time. */
static void run(size_t jobs)
{
    size_t next = 0, running = 0;

    while (running > 0 || next < group_count) {
        int status = 0;
        pid_t pid;

        while (running < jobs && next < group_count && !is_to_end)
            start(&groups[next++]), running++;
        if (running == 0)
            return;
        pid = wait(&status);
        for (size_t i = 0; pid > 0 && i < next; i++)
            if (groups[i].pid == pid) {
                print_group(&groups[i], status);
                groups[i].pid = 0;
                running--;
            }
    }
}

static void list(void)
{
    for (size_t i = 0; i < group_count; i++)
        for (size_t j = 0; j < groups[i].count; j++)
            printf("%s: %s\n", groups[i].name, groups[i].tests[j].name);
}

int main(int argc, char **argv)
{
    const char *pattern = "*";
    bool is_list = false;
    size_t jobs = 2, count;

    for (int i = 1; i < argc; i++)
        if (strcmp(argv[i], "--list") == 0)
            is_list = true;
        else if (strncmp(argv[i], "--jobs=", 7) == 0 && atoi(argv[i] + 7) > 0)
            jobs = (size_t)atoi(argv[i] + 7);
        else if (argv[i][0] != '-')
            pattern = argv[i];
        else
            return fprintf(stderr, "usage: %s [--list] [--jobs=N] [PATTERN]\n", argv[0]), 64;
    count = choose(pattern);
    if (count > 0 && is_list)
        return list(), 0;
    printf("1..%zu\n", count);
    if (count == 0)
        return fprintf(stderr, "no test fits '%s'; --list prints all\n", pattern), 64;
    setenv("CMOCKA_MESSAGE_OUTPUT", "TAP", 1);
    signal(SIGTERM, end_early);
    run(jobs);
    return failed_count > 0 || printed_count < count;
}
