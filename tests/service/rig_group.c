/* SPDX-License-Identifier: MIT */
/* rig_group.c -- runs the tests of a program one after another, in one process; makes the service
 * or lab that all of them share before the first test, and removes it after the last. */
#include <stdlib.h>

#include "tests/service/rig.h"

enum { TESTS_MAX = 32 };

static struct CMUnitTest tests[TESTS_MAX];
static size_t test_count;
static struct CMUnitTest fixtures;

/* The constructors of a file run in the order in which they stand there. */
void registered_add(struct registered *one)
{
    if (one->test.name == NULL)
        fixtures = one->test;
    else if (test_count < TESTS_MAX)
        tests[test_count++] = one->test;
    else
        abort();
}

int rig_run_tests(CMFixtureFunction set_up, CMFixtureFunction tear_down)
{
    return _cmocka_run_group_tests("tests", tests, test_count, set_up, tear_down);
}

/* A program that has more to do has a main() of its own. */
__attribute__((weak)) int main(void)
{
    return rig_run_tests(fixtures.setup_func, fixtures.teardown_func);
}

/* cmocka passes no argument to the first function of a group. */
static struct rig_service *shared;
static const char *const *shared_args;

const char *rig_environment(const char *name)
{
    const char *value = getenv(name);

    if (value == NULL) {
        fail_msg("%s is not set: start a lab and read its env file first", name);
        abort(); /* fail_msg() does not return */
    }
    return value;
}

static int begin_service(void **state)
{
    (void)state;
    *shared = rig_start(shared_args);
    return 0;
}

static int end_service(void **state)
{
    (void)state;
    rig_stop(shared);
    return 0;
}

int rig_run_with_service(struct rig_service *service, const char *const *args)
{
    shared = service;
    shared_args = args;
    return rig_run_tests(begin_service, end_service);
}

static int begin_lab(void **state)
{
    (void)state;
    rig_lab_up();
    return 0;
}

static int end_lab(void **state)
{
    (void)state;
    rig_lab_down();
    return 0;
}

int rig_run_with_lab(void)
{
    return rig_run_tests(begin_lab, end_lab);
}
