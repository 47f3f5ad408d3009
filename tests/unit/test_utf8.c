/* SPDX-License-Identifier: MIT */
/* test_utf8.c -- the bytes that are UTF-8, and what is shown of other bytes and of what a terminal
 * obeys: by a log, an error, JSON and a page. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#include "base/os/utf8.h"
#include "base/postgres/message.h"
#include "base/text/printable.h"
#include "base/text/text.h"
#include "loadtest/kit/files.h"
#include "loadtest/page/scene.h"
#include "lock/name.h"
#include "lock/status.h"
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

TEST(bytes_that_are_no_text_are_escaped)
{
    char out[20];

    utf8_show("k\xc3\xa4se \xff\x1b[m\n", out, sizeof(out));
    /* There was no room for the last escape. */
    assert_string_equal("k\xc3\xa4se \\xff\\x1b[m", out);
    utf8_show("ab\xc3\xa4", out, 4);
    assert_string_equal("ab", out);
    utf8_show("", out, 1);
    assert_string_equal("", out);
}

/* The first and the last of each kind, and their neighbours. */
static const struct {
    const char *text, *shown, *json;
} OBEYED[] = {
    {"\x01", "\\x01", "\\u0001"},         {"\a", "\\x07", "\\u0007"},
    {"\x1b", "\\x1b", "\\u001b"},         {"\x7f", "\\x7f", "\\u007f"},
    {"\xc2\x80", "\\u0080", "\\u0080"},   {"\xc2\x9b", "\\u009b", "\\u009b"},
    {"\xc2\x9f", "\\u009f", "\\u009f"},   {"\xd8\x9c", "\\u061c", "\\u061c"},
    {"\xe2\x80\x8e", "\\u200e", "\\u200e"}, {"\xe2\x80\x8f", "\\u200f", "\\u200f"},
    {"\xe2\x80\xa8", "\\u2028", "\\u2028"}, {"\xe2\x80\xae", "\\u202e", "\\u202e"},
    {"\xe2\x81\xa6", "\\u2066", "\\u2066"}, {"\xe2\x81\xa9", "\\u2069", "\\u2069"},
};
static const char *const SHOWN[] = {" ",        "~",        "\xc2\xa0",     "\xd8\x9b",
                                    "\xd8\x9d", "\xe2\x80\x8d", "\xe2\x80\x90", "\xe2\x80\xa7",
                                    "\xe2\x80\xaf", "\xe2\x81\xa5", "\xe2\x81\xaa"};

/* Check what each place shows of the text. */
static void assert_shown(const char *text, const char *shown, const char *json)
{
    char out[32], quoted[32], *page = NULL, *dumped;
    struct text added = {0};
    json_t *value = json_string(text);
    size_t size;
    FILE *file = open_memstream(&page, &size);

    utf8_show(text, out, sizeof(out));
    assert_string_equal(shown, out);
    assert_string_equal(shown, printable(text, out, sizeof(out)));
    postgres_message_fold(out, sizeof(out), text[0] == ' ' ? "" : text);
    assert_string_equal(text[0] == ' ' ? "" : shown, out);
    page_text(file, text);
    assert_int_equal(0, fclose(file));
    assert_string_equal(shown, page);
    (void)snprintf(quoted, sizeof(quoted), "\"%s\"", json);
    text_add_json(&added, text);
    assert_string_equal(quoted, added.bytes);
    dumped = files_json_text(value, JSON_ENCODE_ANY);
    assert_int_equal(0, strcasecmp(quoted, dumped));
    (void)dlock_fail(DLOCK_INVALID, "%s", text);
    assert_string_equal(shown, dlock_error());
    free(dumped);
    json_decref(value);
    text_free(&added);
    free(page);
}

TEST(what_a_terminal_obeys_is_escaped_at_every_place)
{
    for (size_t i = 0; i < sizeof(OBEYED) / sizeof(OBEYED[0]); i++)
        assert_shown(OBEYED[i].text, OBEYED[i].shown, OBEYED[i].json);
    for (size_t i = 0; i < sizeof(SHOWN) / sizeof(SHOWN[0]); i++)
        assert_shown(SHOWN[i], SHOWN[i], SHOWN[i]);
}

#define SAID "a \\x1b]0;x\\x07:\n\t\\u009b\\u202e\\xff k\xc3\xa4se 0"

/* Errors keep their lines, also long ones. */
TEST(an_error_on_stderr_is_escaped)
{
    static char said[9000];
    int ends[2], before = dup(STDERR_FILENO);
    ssize_t got;

    assert_int_equal(0, pipe(ends));
    assert_int_equal(STDERR_FILENO, dup2(ends[1], STDERR_FILENO));
    eprintf("a %s:\n\t%s %05000d\n", "\x1b]0;x\a", "\xc2\x9b\xe2\x80\xae\xff k\xc3\xa4se", 7);
    (void)dup2(before, STDERR_FILENO);
    close(before);
    close(ends[1]);
    got = read(ends[0], said, sizeof(said) - 1);
    close(ends[0]);
    assert_true(got > 5000);
    assert_non_null(strstr(said, "0007\n"));
    said[strlen(SAID)] = '\0';
    assert_string_equal(SAID, said);
}

/* Users have names of any bytes, so none but the ASCII controls is refused. */
TEST(a_name_may_have_what_a_terminal_obeys)
{
    assert_int_equal(DLOCK_OK, dlock_name_check("\xc2\x9b\xe2\x80\xae\xff"));
    assert_int_equal(DLOCK_INVALID, dlock_name_check("a\x1b"));
}

TEST(json_is_text_whatever_is_in_it)
{
    struct text text = {0};

    text_add_json(&text, "\"k\xc3\xa4se\"\n\xff\xe2\x82");
    assert_string_equal("\"\\\"k\xc3\xa4se\\\"\\u000a" R R R "\"", text.bytes);
    text_free(&text);
}
