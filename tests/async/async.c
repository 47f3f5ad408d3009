/* SPDX-License-Identifier: MIT */
/* async.c -- the asynchronous interface against a real Redis.
 *
 *   async [GLOB]    only the tests whose title fits: "NAME, by dlock_poll()" and
 *                   "NAME, by a thread"
 */
#include <fnmatch.h>
#include <stdio.h>
#include <unistd.h>

#include "tests/async/rig.h"

enum { TESTS_MAX = 96, TEST_LIMIT_S = 400 };

static struct async_test chosen[TESTS_MAX];
static struct CMUnitTest tests[TESTS_MAX];
static size_t chosen_count;

static void run(void **state)
{
    alarm(TEST_LIMIT_S); /* a hang ends the program by a signal, which the runner reports */
    async_run(*state);
    alarm(0);
}

static int reset(void **state)
{
    (void)state;
    async_reset();
    return 0;
}

static void choose(const struct async_test *all, bool has_thread, const char *glob)
{
    for (; all->name != NULL && chosen_count < TESTS_MAX; all++) {
        struct async_test *test = &chosen[chosen_count];

        *test = *all;
        test->has_thread = has_thread;
        snprintf(test->title, sizeof(test->title), "%s, by %s", test->name,
                 has_thread ? "a thread" : "dlock_poll()");
        if (fnmatch(glob, test->title, 0) != 0)
            continue;
        tests[chosen_count++] = (struct CMUnitTest){
            .name = test->title, .test_func = run, .teardown_func = reset, .initial_state = test};
    }
}

int main(int argc, char **argv)
{
    const char *glob = argc > 1 ? argv[1] : "*";

    for (int has_thread = 0; has_thread < 2; has_thread++) {
        choose(async_calls_tests, has_thread, glob);
        choose(async_refusals_tests, has_thread, glob);
        choose(async_trouble_tests, has_thread, glob);
        choose(async_many_tests, has_thread, glob);
    }
    cmocka_set_message_output(CM_OUTPUT_TAP);
    return _cmocka_run_group_tests("async", tests, chosen_count, NULL, NULL) == 0 ? 0 : 1;
}
