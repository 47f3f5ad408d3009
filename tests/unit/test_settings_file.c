/* SPDX-License-Identifier: MIT */
/* test_settings_file.c -- the settings file: the lines that are accepted and refused. */
#include "tests/registered.h"
#include "tests/unit/settings_run.h"

/* Load the settings from a file of these bytes. */
static void load_file(struct run *run, const char *bytes, size_t size)
{
    char path[] = "/tmp/seckill-settings-XXXXXX", flag[64];
    int file = mkstemp(path);

    assert_int_equal(write(file, bytes, size), size);
    close(file);
    snprintf(flag, sizeof flag, "--config=%s", path);
    LOAD(run, flag);
    unlink(path);
}

TEST(an_error_in_the_file_is_reported_with_its_line)
{
    static const struct {
        const char *text, *said;
    } CASES[] = {
        {"cuont = 2\n", ":1: unknown key \"cuont\"; did you mean \"count\"?"},
        {"\n# x\ncount = 22\n", ":3): expected a whole number from 1 to 9"},
        {"fruit = apple\nfruit = cherry\n", ":2: fruit stands there twice; it is also at /tmp"},
        {"count = 2\n[more]\n", ":2: expected key = value; the file has no sections"},
        {"count\n", ":1: expected key = value"},
        {"= 2\n", ":1: expected key = value"},
        {"count = 2 # of them\nfruit = apple #5\ncount = 3\n", ":3: count stands there twice"},
        {"\nlock = lua\n", ":2: lock is a setting of seckilld; write it on the command line: "
                          "test -- --lock=..."},
        {"users = 5\n", ":1: unknown key \"users\"; did you mean \"seed-users\"?"},
    };
    struct run run;

    for (size_t i = 0; i < sizeof CASES / sizeof CASES[0]; i++) {
        load_file(&run, CASES[i].text, strlen(CASES[i].text));
        if (run.result != SETTINGS_USAGE || !strstr(run.said, CASES[i].said))
            fail_msg("%s: said \"%s\", expected \"%s\"", CASES[i].text, run.said,
                     CASES[i].said);
        settings_free(&run.settings);
    }
}

TEST(a_line_without_a_key_is_not_printed_for_it_may_hold_a_password)
{
    static const char text[] = "secret hunter2\n";
    struct run run;

    load_file(&run, text, sizeof text - 1);
    assert_int_equal(run.result, SETTINGS_USAGE);
    assert_null(strstr(run.said, "hunter2"));
    settings_free(&run.settings);
}

TEST(a_password_in_a_file_that_others_may_read_is_refused)
{
    static const struct {
        const char *text;
        mode_t mode;
        bool is_refused; /* of a file that is not root's */
    } CASES[] = {
        {"secret = redis://u:p@h\n", 0600, false},  {"secret = redis://u:p@h\n", 0644, true},
        {"secret = redis://u:p@h\n", 0604, true},   {"secret = redis://u:p@h\n", 0640, true},
        {"secret = host=h password=p", 0644, true}, {"secret = redis://h\n", 0644, false},
        {"title = u@h\n", 0644, false},
    };
    bool are_roots = geteuid() == 0;

    for (size_t i = 0; i < sizeof CASES / sizeof CASES[0]; i++) {
        char path[] = "/tmp/seckill-settings-XXXXXX", flag[64];
        int file = mkstemp(path);
        size_t size = strlen(CASES[i].text);
        bool is_refused = CASES[i].is_refused && !(are_roots && CASES[i].mode == 0640);
        struct run run;

        assert_int_equal(write(file, CASES[i].text, size), size);
        assert_int_equal(fchmod(file, CASES[i].mode), 0);
        close(file);
        snprintf(flag, sizeof flag, "--config=%s", path);
        LOAD(&run, flag);
        unlink(path);
        assert_int_equal(run.result, is_refused ? SETTINGS_USAGE : SETTINGS_OK);
        assert_true(is_refused == (strstr(run.said, ":1: secret has a password") != NULL));
        assert_null(strstr(run.said, "u:p"));
        settings_free(&run.settings);
    }
}

TEST(a_zero_byte_in_the_file_is_refused)
{
    static const char text[] = "title = one\0two\n";
    struct run run;

    load_file(&run, text, sizeof text - 1);
    assert_int_equal(run.result, SETTINGS_USAGE);
    assert_non_null(strstr(run.said, "zero byte"));
    settings_free(&run.settings);
}

TEST(a_file_of_more_than_a_mebibyte_is_refused)
{
    size_t size = (1 << 20) + 1;
    char *text = malloc(size);
    struct run run;

    memset(text, '\n', size);
    load_file(&run, text, size);
    free(text);
    assert_int_equal(run.result, SETTINGS_USAGE);
    assert_non_null(strstr(run.said, "more than 1 MiB"));
    settings_free(&run.settings);
}

TEST(a_fifo_without_a_writer_is_refused_and_not_waited_for)
{
    char path[] = "/tmp/seckill-settings-XXXXXX", flag[64];
    struct run run;

    close(mkstemp(path));
    unlink(path);
    assert_int_equal(mkfifo(path, 0600), 0);
    snprintf(flag, sizeof flag, "--config=%s", path);
    LOAD(&run, flag);
    unlink(path);
    assert_int_equal(run.result, SETTINGS_USAGE);
    assert_non_null(strstr(run.said, "it is no regular file"));
    settings_free(&run.settings);
}

TEST(a_file_from_windows_with_long_lines_and_comments_is_read)
{
    char text[1200], title[1001] = "";
    struct run run;

    memset(title, 'x', sizeof title - 1);
    snprintf(text, sizeof text,
             "\xef\xbb\xbf; a comment\r\ncount = 3 ; of them\r\n\r\n  title = %s\r\n"
             "fruit: cherry",
             title);
    load_file(&run, text, strlen(text));
    assert_string_equal(run.said, "");
    assert_int_equal(run.result, SETTINGS_OK);
    assert_int_equal(run.values.count, 3);
    assert_string_equal(run.values.title, title);
    assert_string_equal(run.values.fruit, "cherry");
    settings_free(&run.settings);
}

TEST(a_blank_and_a_hash_or_semicolon_begin_a_comment)
{
    static const struct {
        const char *text, *title;
    } CASES[] = {
        {"title = a # b\n", "a"},
        {"title = a\t#b\n", "a"},
        {"title = a ; b # c\n", "a"},
        {"title: a # b ; c\n", "a"},
        {"title = a#b;c\n", "a#b;c"},
        {"title =#a\n", "#a"},
        {"title = # a\n", "none"}, /* the default */
        {"title =\n", "none"},
    };
    struct run run;

    for (size_t i = 0; i < sizeof CASES / sizeof CASES[0]; i++) {
        load_file(&run, CASES[i].text, strlen(CASES[i].text));
        assert_string_equal(run.said, "");
        assert_string_equal(run.values.title, CASES[i].title);
        settings_free(&run.settings);
    }
}

TEST(shown_settings_can_be_read_back)
{
    char *shown = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&shown, &size);
    struct run run;

    LOAD(&run, "--title=a b", "--line=one", "--line=two", "--count=5", "--verbose");
    settings_show(&run.settings, out);
    fclose(out);
    settings_free(&run.settings);
    load_file(&run, shown, size);
    free(shown);
    assert_string_equal(run.said, "");
    assert_int_equal(run.result, SETTINGS_OK);
    assert_string_equal(run.values.title, "a b");
    assert_string_equal(run.values.lines, "one\ntwo");
    assert_int_equal(run.values.count, 5);
    assert_true(run.values.verbose);
    assert_null(run.values.secret);
    settings_free(&run.settings);
}

TEST(one_file_serves_several_programs)
{
    static const char text[] = "load-users = same\ncount = 3\ncompare-locks = lua\n";
    struct run run;

    load_file(&run, text, sizeof text - 1);
    assert_int_equal(run.result, SETTINGS_OK);
    assert_int_equal(run.values.count, 3);
    settings_free(&run.settings);
}
