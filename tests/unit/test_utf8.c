/* SPDX-License-Identifier: MIT */
/* test_utf8.c -- the bytes that are UTF-8, and the replacement of other bytes. */
#include <string.h>

#include "base/text/printable.h"
#include "base/text/text.h"
#include "base/text/utf8.h"
#include "tests/registered.h"

#define R UTF8_REPLACEMENT

/* Overlong forms, surrogates, numbers above the last one, characters that are cut off, bytes that
 * begin no character. */
static const char *const WRONG[] = {"\xc0\x80",         "\xc1\xbf",     "\xe0\x80\x80",
                                    "\xf0\x80\x80\x80", "\xed\xa0\x80", "\xf4\x90\x80\x80",
                                    "\xf8\x88\x80\x80", "\xff",         "\x80",
                                    "\xc3",             "\xe2\x82",     "\xf0\x9f\x94"};
static const char *const RIGHT[] = {"a",            "\xc2\x80",     "\xdf\xbf",
                                    "\xe0\xa0\x80", "\xed\x9f\xbf", "\xee\x80\x80",
                                    "\xef\xbf\xbf", "\xf0\x90\x80\x80",
                                    "\xf4\x8f\xbf\xbf"};

TEST(characters_are_told_from_bytes)
{
    for (size_t i = 0; i < sizeof(WRONG) / sizeof(WRONG[0]); i++)
        assert_int_equal(0, utf8_char_len(WRONG[i]));
    for (size_t i = 0; i < sizeof(RIGHT) / sizeof(RIGHT[0]); i++)
        assert_int_equal(strlen(RIGHT[i]), utf8_char_len(RIGHT[i]));
    assert_int_equal(1, utf8_char_len(""));
}

TEST(bytes_that_are_no_text_are_replaced)
{
    char out[16];

    utf8_clean("k\xc3\xa4se \xff\x1b[m\n", out, sizeof(out));
    /* There was no room for the last replacement. */
    assert_string_equal("k\xc3\xa4se " R R "[m", out);
    utf8_clean("ab\xc3\xa4", out, 4);
    assert_string_equal("ab", out);
    utf8_clean("", out, 1);
    assert_string_equal("", out);
}

/* The first and the last of each kind, and their neighbours. */
TEST(characters_that_a_terminal_obeys_are_replaced)
{
    static const char *const OBEYED[] = {
        "\x01",         "\x1b",         "\x7f",         "\xc2\x80",     "\xc2\x9b",
        "\xc2\x9f",     "\xd8\x9c",     "\xe2\x80\x8e", "\xe2\x80\x8f", "\xe2\x80\xa8",
        "\xe2\x80\xae", "\xe2\x81\xa6", "\xe2\x81\xa9"};
    static const char *const SHOWN[] = {" ",        "~",        "\xc2\xa0",     "\xd8\x9b",
                                        "\xd8\x9d", "\xe2\x80\x8d", "\xe2\x80\x90", "\xe2\x80\xa7",
                                        "\xe2\x80\xaf", "\xe2\x81\xa5", "\xe2\x81\xaa"};
    char out[16];

    for (size_t i = 0; i < sizeof(OBEYED) / sizeof(OBEYED[0]); i++) {
        utf8_clean(OBEYED[i], out, sizeof(out));
        assert_string_equal(R, out);
        assert_string_equal("?", printable(OBEYED[i], out, sizeof(out)));
    }
    for (size_t i = 0; i < sizeof(SHOWN) / sizeof(SHOWN[0]); i++) {
        utf8_clean(SHOWN[i], out, sizeof(out));
        assert_string_equal(SHOWN[i], out);
    }
}

TEST(json_is_text_whatever_is_in_it)
{
    struct text text = {0};

    text_add_json(&text, "\"k\xc3\xa4se\"\n\xff\xe2\x82");
    assert_string_equal("\"\\\"k\xc3\xa4se\\\"\\u000a" R R R "\"", text.bytes);
    text_free(&text);
}
