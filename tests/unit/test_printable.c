/* SPDX-License-Identifier: MIT */
/* test_printable.c -- foreign text becomes one readable line. */
#include <jansson.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/text/log.h"
#include "base/text/printable.h"
#include "tests/registered.h"

TEST(line_breaks_are_folded_so_that_the_sentences_can_be_read)
{
    static const struct {
        const char *text, *line;
    } CASES[] = {
        {"plain", "plain"},
        {"", ""},
        {"one\ntwo", "one; two"},
        {"Connection refused\n\tIs the server running?\n", "Connection refused; Is the server "
                                                           "running?"},
        {"failed:\nno route", "failed: no route"},
        {"a\r\nb\r\n", "a; b"},
        {"\n\nfirst", "first"},
        {"tab\there", "tab here"},
        {"bell\a \x1b[31mred", "bell\\x07 \\x1b[31mred"},
        {"caf\xc3\xa9 \xff", "caf\xc3\xa9 \\xff"},
        {"two  blanks", "two  blanks"},
    };
    char line[100];

    for (size_t i = 0; i < sizeof CASES / sizeof CASES[0]; i++)
        assert_string_equal(printable(CASES[i].text, line, sizeof line), CASES[i].line);
}

TEST(a_cut_text_ends_in_dots_and_in_no_half_character)
{
    char line[32];

    for (size_t size = 4; size <= sizeof line; size++) {
        memset(line, '#', sizeof line);
        assert_ptr_equal(printable("\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9", line,
                                   size),
                         line);
        assert_true(strlen(line) < size);
        if (size <= 12)
            assert_string_equal(line + strlen(line) - 3, "...");
        else
            assert_int_equal(strlen(line), 12);
        assert_true(size <= 5 || (unsigned char)line[0] == 0xc3);
    }
    assert_string_equal(printable("0123456789", line, 10), "012345...");
    assert_string_equal(printable("0123456789", line, 11), "0123456789");
}

/* Return the line that log_line() writes in `out`. */
static void log_into(char *out, size_t size, const char *message)
{
    int ends[2], saved = dup(STDERR_FILENO);
    ssize_t n;

    assert_int_equal(pipe(ends), 0);
    dup2(ends[1], STDERR_FILENO);
    log_error("%s", message);
    dup2(saved, STDERR_FILENO);
    close(saved);
    close(ends[1]);
    n = read(ends[0], out, size - 1);
    out[n > 0 ? n : 0] = '\0';
    close(ends[0]);
}

TEST(a_log_line_is_one_line_whatever_is_in_it)
{
    char line[4096], message[3000];

    log_into(line, sizeof line, "server closed the connection\n\tunexpectedly\n");
    assert_non_null(strstr(line, "error server closed the connection; unexpectedly\n"));
    memset(message, 'x', sizeof message - 1);
    message[sizeof message - 1] = '\0';
    log_into(line, sizeof line, message);
    assert_int_equal(strlen(line), 1023);
    assert_string_equal(line + strlen(line) - 5, "x...\n");
}

/* The object of a log line with this message; the caller frees it. */
static json_t *logged_object(const char *message)
{
    static char line[8192];
    json_error_t why;
    json_t *object;

    log_set_format(LOG_JSON);
    log_into(line, sizeof line, message);
    log_set_format(LOG_TEXT);
    assert_int_equal(line[strlen(line) - 1], '\n');
    assert_ptr_equal(strchr(line, '\n'), line + strlen(line) - 1);
    object = json_loads(line, JSON_REJECT_DUPLICATES, &why);
    if (object == NULL)
        fail_msg("%s: %s", why.text, line);
    return object;
}

TEST(a_json_line_is_one_object_whatever_is_in_it)
{
    static const struct {
        const char *message, *said;
    } CASES[] = {
        {"plain", "plain"},
        {"", ""},
        {"say \"no\" to C:\\temp\\", "say \"no\" to C:\\temp\\"},
        {"\"}\n{\"level\":\"info", "\"}; {\"level\":\"info"},
        {"bell\a \x1b[31mred\x7f", "bell\\x07 \\x1b[31mred\\x7f"},
        {"caf\xc3\xa9 \xff \xc3", "caf\xc3\xa9 \\xff \\xc3"},
    };

    for (size_t i = 0; i < sizeof CASES / sizeof CASES[0]; i++) {
        json_t *object = logged_object(CASES[i].message);

        assert_int_equal(json_object_size(object), 3);
        assert_string_equal(json_string_value(json_object_get(object, "level")), "error");
        assert_string_equal(json_string_value(json_object_get(object, "message")),
                            CASES[i].said);
        json_decref(object);
    }
}

/* Each byte of the longest message becomes two bytes when it is escaped. */
TEST(a_long_message_in_json_is_cut_before_it_is_escaped)
{
    char message[3000];
    json_t *object;
    const char *said;

    memset(message, '"', sizeof message - 1);
    message[sizeof message - 1] = '\0';
    object = logged_object(message);
    said = json_string_value(json_object_get(object, "message"));
    assert_int_equal(strlen(said), 1023);
    assert_string_equal(said + strlen(said) - 4, "\"...");
    json_decref(object);
}

/* The time is in RFC 3339, UTC and milliseconds, and is that of the call. */
TEST(a_json_line_has_the_time_in_utc)
{
    time_t before_s = time(NULL);
    json_t *object = logged_object("now");
    const char *said = json_string_value(json_object_get(object, "time"));
    struct tm utc = {0};
    const char *rest = said != NULL ? strptime(said, "%Y-%m-%dT%H:%M:%S", &utc) : NULL;

    assert_non_null(rest);
    assert_in_range(timegm(&utc), before_s, time(NULL));
    assert_int_equal(strlen(said), strlen("2026-01-31T23:59:59.123Z"));
    assert_int_equal(rest[0], '.');
    assert_int_equal(strspn(rest + 1, "0123456789"), 3);
    assert_string_equal(rest + 4, "Z");
    json_decref(object);
}
