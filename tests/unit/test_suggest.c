/* SPDX-License-Identifier: MIT */
/* test_suggest.c -- a name with a typing error finds the right name; a random text finds none. */
#include "base/text/suggest.h"
#include "tests/registered.h"

static const char *lock_at(size_t i)
{
    static const char *const LOCKS[] = {"none",  "local",     "naive",   "owner",
                                        "lua",   "reentrant", "redlock", NULL};

    return LOCKS[i];
}

TEST(a_typing_error_finds_its_name)
{
    assert_string_equal(suggest("redlok", lock_at), "redlock");
    assert_string_equal(suggest("rentrant", lock_at), "reentrant");
    assert_string_equal(suggest("lcoal", lock_at), "local");
    assert_string_equal(suggest("nome", lock_at), "none");
    assert_string_equal(suggest("onwer", lock_at), "owner");
}

TEST(capital_letters_are_no_typing_error)
{
    assert_string_equal(suggest("LUA", lock_at), "lua");
    assert_string_equal(suggest("RedLok", lock_at), "redlock");
    assert_null(suggest("XYZ", lock_at));
}

TEST(a_word_near_no_name_finds_nothing)
{
    static const char LONG[] = "reentrantreentrantreentrantreentrantreentrant"
                               "reentrantreentrantreentrantreentrant";

    assert_null(suggest("zookeeper", lock_at));
    assert_null(suggest("", lock_at));
    assert_null(suggest("xyz", lock_at));
    assert_null(suggest(LONG, lock_at));
}
