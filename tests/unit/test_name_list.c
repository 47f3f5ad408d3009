/* SPDX-License-Identifier: MIT */
/* test_name_list.c -- a flag's list of names is read in its order, each name once. */
#include "loadtest/kit/name_list.h"
#include "tests/registered.h"

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

TEST(names_are_read_in_their_order)
{
    reads("green", "green", "", "");
    reads("blue,red", "blue", "red", "");
    reads("all", "red", "green", "blue");
    reads(NULL, "red", "green", "blue");
}

TEST(a_name_given_twice_counts_once)
{
    reads("red,red", "red", "", "");
    reads("blue,red,blue,blue,red", "blue", "red", "");
    reads("green,red,blue,green,red,blue,green,red,blue", "green", "red", "blue");
}

TEST(a_list_with_another_word_is_refused)
{
    reads("", "", "", "");
    reads("red,", "", "", "");
    reads("red,red,reed", "", "", "");
    reads("all,red", "", "", "");
}
