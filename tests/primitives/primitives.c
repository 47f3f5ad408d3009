/* SPDX-License-Identifier: MIT */
/* primitives.c -- semaphores, permits and latches against a real Redis.
 *
 *   primitives [GLOB]    only the tests whose name fits
 */
#include <fnmatch.h>
#include <stdio.h>
#include <string.h>

#include "tests/primitives/rig.h"

enum { TESTS_MAX = 64 };

static struct CMUnitTest chosen[TESTS_MAX];
static size_t chosen_count;

static void choose(const struct CMUnitTest *tests, size_t count, const char *glob)
{
    for (size_t i = 0; i < count && chosen_count < TESTS_MAX; i++)
        if (fnmatch(glob, tests[i].name, 0) == 0)
            chosen[chosen_count++] = tests[i];
}

int main(int argc, char **argv)
{
    const char *glob = argc > 1 ? argv[1] : "*";

    choose(prim_semaphore_tests, prim_semaphore_count, glob);
    choose(prim_permits_tests, prim_permits_count, glob);
    choose(prim_latch_tests, prim_latch_count, glob);
    choose(prim_record_tests, prim_record_count, glob);
    cmocka_set_message_output(CM_OUTPUT_TAP);
    return _cmocka_run_group_tests("primitives", chosen, chosen_count, NULL, NULL) == 0
               ? 0
               : 1;
}
