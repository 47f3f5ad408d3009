/* SPDX-License-Identifier: MIT */
/* test_name_list.c -- a flag's list of names is read in its order, each name once. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "loadtest/kit/name_list.h"

enum { MAX = 8 };

static NAME_LIST(colour_at, "red", "green", "blue")

/* Read `text`, which must give these names, "" past the last. */
static void reads(const char *text, const char *first, const char *second, const char *third)
{
    const char *const wanted[] = {first, second, third, ""}, *out[MAX];
    size_t n = words_read("test", "colours", text, colour_at, out, MAX);

    for (size_t i = 0; i < n; i++)
        assert_string_equal(out[i], wanted[i]);
    assert_string_equal(wanted[n], "");
}

static void names_are_read_in_their_order(void **state)
{
    (void)state;
    reads("green", "green", "", "");
    reads("blue,red", "blue", "red", "");
    reads("all", "red", "green", "blue");
    reads(NULL, "red", "green", "blue");
}

static void a_name_given_twice_counts_once(void **state)
{
    (void)state;
    reads("red,red", "red", "", "");
    reads("blue,red,blue,blue,red", "blue", "red", "");
    reads("green,red,blue,green,red,blue,green,red,blue", "green", "red", "blue");
}

static void a_list_with_another_word_is_refused(void **state)
{
    (void)state;
    reads("", "", "", "");
    reads("red,", "", "", "");
    reads("red,red,reed", "", "", "");
    reads("all,red", "", "", "");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(names_are_read_in_their_order),
        cmocka_unit_test(a_name_given_twice_counts_once),
        cmocka_unit_test(a_list_with_another_word_is_refused),
    };

    return cmocka_run_group_tests_name("name_list", tests, NULL, NULL);
}
