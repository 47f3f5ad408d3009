/* SPDX-License-Identifier: MIT */
/* registered.c -- [--list] [--jobs=N] [PATTERN]: run the tests that the files of this program have
 * registered, and print TAP.
 *
 * PATTERN is a shell pattern; it chooses the tests of a file (test_gate), one test
 * (names_can_be_added), or both ('test_gate: a_*').  Each test runs in a process of its own, N (2)
 * at the same time, so a test may change what belongs to a process: clocks, signals, the
 * environment, threads. */
#include "tests/registered.h"

#include <fnmatch.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/jobs.h"

enum { TESTS_MAX = 2000, NAME_SIZE = 160, AT_ONCE = 2 };

/* A test that is to run, and the fixtures of its file. */
struct chosen {
    const struct registered *test;
    const struct registered *fixtures; /* NULL: none */
    char name[NAME_SIZE];              /* test_gate: names_can_be_added */
};

static struct registered *registered;
static struct registered *sorted[TESTS_MAX];
static size_t registered_count;
static struct chosen chosen[TESTS_MAX];
static size_t chosen_count;

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

static void sort_tests(void)
{
    for (struct registered *one = registered; one != NULL; one = one->next) {
        if (registered_count == TESTS_MAX)
            abort();
        sorted[registered_count++] = one;
    }
    qsort(sorted, registered_count, sizeof(sorted[0]), by_place);
}

static const struct registered *fixtures_of(const char *file)
{
    for (size_t i = 0; i < registered_count; i++)
        if (sorted[i]->test.name == NULL && strcmp(sorted[i]->file, file) == 0)
            return sorted[i];
    return NULL;
}

static void choose(const char *pattern)
{
    for (size_t i = 0; i < registered_count; i++) {
        const struct registered *one = sorted[i];
        struct chosen *next = &chosen[chosen_count];
        char file[NAME_SIZE / 2];

        if (one->test.name == NULL)
            continue;
        snprintf(file, sizeof(file), "%s", strrchr(one->file, '/') + 1);
        file[strcspn(file, ".")] = '\0';
        snprintf(next->name, sizeof(next->name), "%s: %s", file, one->test.name);
        if (fnmatch(pattern, file, 0) != 0 && fnmatch(pattern, one->test.name, 0) != 0 &&
            fnmatch(pattern, next->name, 0) != 0)
            continue;
        next->test = one;
        next->fixtures = fixtures_of(one->file);
        chosen_count++;
    }
}

static const char *registered_name(size_t which)
{
    return chosen[which].name;
}

/* In the process of the test. */
static int registered_run(size_t which)
{
    const struct chosen *one = &chosen[which];
    const struct CMUnitTest *fixtures = one->fixtures != NULL ? &one->fixtures->test : NULL;

    return _cmocka_run_group_tests(one->name, &one->test->test, 1,
                                   fixtures != NULL ? fixtures->setup_func : NULL,
                                   fixtures != NULL ? fixtures->teardown_func : NULL);
}

int main(int argc, char **argv)
{
    struct jobs jobs = {.name = registered_name, .run = registered_run, .at_once = AT_ONCE};
    const char *pattern = "*";
    bool is_list = false;

    for (int i = 1; i < argc; i++)
        if (strcmp(argv[i], "--list") == 0)
            is_list = true;
        else if (strncmp(argv[i], "--jobs=", 7) == 0 && atoi(argv[i] + 7) > 0)
            jobs.at_once = (unsigned)atoi(argv[i] + 7);
        else if (argv[i][0] != '-')
            pattern = argv[i];
        else
            return fprintf(stderr, "usage: %s [--list] [--jobs=N] [PATTERN]\n", argv[0]), 64;
    sort_tests();
    choose(pattern);
    for (size_t i = 0; is_list && i < chosen_count; i++)
        puts(chosen[i].name);
    if (is_list)
        return 0;
    if (chosen_count == 0)
        return printf("1..0\n# no test fits '%s'; --list prints all\n", pattern), 64;
    cmocka_set_message_output(CM_OUTPUT_TAP);
    jobs.count = chosen_count;
    return jobs_run(&jobs);
}
