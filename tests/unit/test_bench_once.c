/* SPDX-License-Identifier: MIT */
/* test_bench_once.c -- the one line that one build of the laboratory reads of another. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
/* cmocka.h needs these four first. */
#include <cmocka.h>
#include <stdio.h>
#include <string.h>

#include "base/version.h"
#include "loadtest/bench_once.h"

static double per_s;
static char why[160];

static bool reads(const char *text, bool is_bare)
{
    per_s = 0;
    return bench_once_read(text, is_bare, &per_s, why, sizeof why);
}

/* This test is of a build that is not bare. */
static void what_is_written_is_read(void **state)
{
    char line[BENCH_ONCE_LINE_MAX];

    (void)state;
    bench_once_write(line, 14270.5);
    assert_true(reads(line, false));
    assert_true(per_s > 14270.4 && per_s < 14270.6);
}

static void the_wrong_build_is_refused(void **state)
{
    char line[BENCH_ONCE_LINE_MAX];

    (void)state;
    bench_once_write(line, 1);
    assert_false(reads(line, true));
    assert_string_equal(why, "is not a bare build");
    assert_false(reads("pairs_per_s=1.0 build=bare version=" SECKILL_VERSION "\n", false));
    assert_string_equal(why, "is a bare build");
    assert_false(reads("pairs_per_s=1.0 build=bare version=0.0.7\n", true));
    assert_string_equal(why, "is version 0.0.7, and this is " SECKILL_VERSION);
}

static void everything_else_is_no_answer(void **state)
{
    static const char *const texts[] = {
        "",
        "\n",
        "hello\n",
        "pairs_per_s=12",
        "pairs_per_s=12 build=whole\n",
        "pairs_per_s=0 build=whole version=" SECKILL_VERSION "\n",
        "pairs_per_s=-1 build=whole version=" SECKILL_VERSION "\n",
        "pairs_per_s=nan build=whole version=" SECKILL_VERSION "\n",
        "pairs_per_s=inf build=whole version=" SECKILL_VERSION "\n",
        "pairs_per_s=12 build=whole version=" SECKILL_VERSION,
        "pairs_per_s=12 build=whole version=" SECKILL_VERSION "\nmore\n",
    };

    (void)state;
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        assert_false(reads(texts[i], false));
        assert_memory_equal(why, "answered no pairs", strlen("answered no pairs"));
        assert_true(per_s == 0);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_written_is_read),
        cmocka_unit_test(the_wrong_build_is_refused),
        cmocka_unit_test(everything_else_is_no_answer),
    };

    return cmocka_run_group_tests_name("bench_once", tests, NULL, NULL);
}
