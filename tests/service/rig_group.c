/* SPDX-License-Identifier: MIT */
/* rig_group.c -- the service or lab that all tests of a program share, made before the
 * first test and removed after the last. */
#include <stdlib.h>

#include "tests/service/rig.h"

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

int rig_run_with_service(const struct CMUnitTest *tests, size_t count,
                         struct rig_service *service, const char *const *args)
{
    shared = service;
    shared_args = args;
    return _cmocka_run_group_tests("tests", tests, count, begin_service, end_service);
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

int rig_run_with_lab(const struct CMUnitTest *tests, size_t count)
{
    return _cmocka_run_group_tests("tests", tests, count, begin_lab, end_lab);
}
