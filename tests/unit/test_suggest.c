/* SPDX-License-Identifier: MIT */
/* test_suggest.c -- a name with a typing error finds the right name; a random text finds none. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/text/suggest.h"

static const char *lock_at(size_t i)
{
    static const char *const LOCKS[] = {"none",  "local",     "naive",   "owner",
                                        "lua",   "reentrant", "redlock", NULL};

    return LOCKS[i];
}

static void a_typing_error_finds_its_name(void **state)
{
    (void)state;
    assert_string_equal(suggest("redlok", lock_at), "redlock");
    assert_string_equal(suggest("rentrant", lock_at), "reentrant");
    assert_string_equal(suggest("lcoal", lock_at), "local");
    assert_string_equal(suggest("nome", lock_at), "none");
    assert_string_equal(suggest("onwer", lock_at), "owner");
}

static void capital_letters_are_no_typing_error(void **state)
{
    (void)state;
    assert_string_equal(suggest("LUA", lock_at), "lua");
    assert_string_equal(suggest("RedLok", lock_at), "redlock");
    assert_null(suggest("XYZ", lock_at));
}

static void a_word_near_no_name_finds_nothing(void **state)
{
    static const char LONG[] = "reentrantreentrantreentrantreentrantreentrant"
                               "reentrantreentrantreentrantreentrant";

    (void)state;
    assert_null(suggest("zookeeper", lock_at));
    assert_null(suggest("", lock_at));
    assert_null(suggest("xyz", lock_at));
    assert_null(suggest(LONG, lock_at));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_typing_error_finds_its_name),
        cmocka_unit_test(capital_letters_are_no_typing_error),
        cmocka_unit_test(a_word_near_no_name_finds_nothing),
    };

    return cmocka_run_group_tests_name("suggest", tests, NULL, NULL);
}
