/* SPDX-License-Identifier: MIT */
/* test_ident.c -- numbers and names from outside are read strictly. */
#include <string.h>

#include "app/ident.h"
#include "base/text/text.h"
#include "tests/registered.h"

static int64_t parsed(const char *text)
{
    int64_t id = -1;

    return ident_parse(text, &id) == NULL ? id : -1;
}

TEST(numbers_are_read)
{
    assert_int_equal(parsed("1"), 1);
    assert_int_equal(parsed("42"), 42);
    assert_int_equal(parsed("9223372036854775807"), INT64_MAX);
}

TEST(a_text_that_is_no_id_is_refused)
{
    static const char *const BAD[] = {
        "",    "0",  "-1",  "+1",  "01",  " 1",  "1 ",
        "1.0", "1e3", "0x1", "abc", "1a", "9223372036854775808",
        "99999999999999999999999999", "-", "--1", "\xef\xbc\x91",
    };

    for (size_t i = 0; i < sizeof(BAD) / sizeof(BAD[0]); i++)
        assert_int_equal(parsed(BAD[i]), -1);
}

TEST(the_reason_is_given)
{
    int64_t id = 0;

    assert_string_equal(ident_parse("-5", &id), "the number is negative");
    assert_string_equal(ident_parse("abc", &id), "not a number");
    assert_string_equal(ident_parse("9223372036854775808", &id),
                        "the number is too large");
}

TEST(request_ids_are_short_and_plain)
{
    char id[REQUEST_ID_MAX + 1];
    char other[REQUEST_ID_MAX + 1];
    char longest[REQUEST_ID_MAX + 2];

    memset(longest, 'a', sizeof(longest));
    longest[REQUEST_ID_MAX + 1] = '\0';
    assert_false(ident_is_request_id(longest));
    longest[REQUEST_ID_MAX] = '\0';
    assert_true(ident_is_request_id(longest));
    assert_true(ident_is_request_id("aZ09_.:-"));
    assert_false(ident_is_request_id(""));
    assert_false(ident_is_request_id("a b"));
    assert_false(ident_is_request_id("a\"b"));
    ident_make_request_id(id);
    ident_make_request_id(other);
    assert_true(ident_is_request_id(id));
    assert_string_not_equal(id, other);
}

TEST(texts_grow_and_are_escaped)
{
    struct text t = {0};

    text_add_json(&t, "a\"b\\c\n\x01");
    assert_string_equal(t.bytes, "\"a\\\"b\\\\c\\u000a\\u0001\"");
    text_clear(&t);
    text_add_json(&t, NULL);
    assert_string_equal(t.bytes, "null");
    text_clear(&t);
    for (int i = 0; i < 10000; i++)
        text_add(&t, "%d,", 7);
    text_add(&t, "%05000d", 1);
    assert_int_equal(t.len, 25000);
    assert_int_equal(strlen(t.bytes), 25000);
    text_free(&t);
}
