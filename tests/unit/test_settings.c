/* SPDX-License-Identifier: MIT */
/* test_settings.c -- the defaults, the file, the environment and the flags, and the values that
 * each of them refuses. */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/text/settings.h"
#include "tests/registered.h"

struct values {
    const char *title;
    const char *secret;
    const char *fruit;
    const char *lines;
    int64_t count;
    int64_t wait_ms;
    bool verbose;
};

static const char *fruit_at(size_t i)
{
    static const char *const FRUIT[] = {"apple", "banana", "cherry", NULL};

    return FRUIT[i];
}

#define ROW(kind, flag, field, ...) \
    {.type = SETTING_##kind, .name = flag, .offset = offsetof(struct values, field), .group = "A", \
     .help = "h", __VA_ARGS__}
static const struct setting TABLE[] = {
    ROW(TEXT, "title", title, .fallback = "none", .meta = "TEXT"),
    ROW(SECRET, "secret", secret, .meta = "TEXT"),
    ROW(CHOICE, "fruit", fruit, .fallback = "apple", .meta = "NAME", .choices = fruit_at,
        .common = SETTING_IS_COLOR),
    ROW(COUNT, "count", count, .fallback = "4", .meta = "N", .min = 1, .max = 9),
    ROW(DURATION, "lock-wait", wait_ms, .fallback = "1s", .meta = "DURATION", .max = 5000),
    ROW(LINES, "line", lines, .meta = "TEXT"),
    ROW(SWITCH, "verbose", verbose, .fallback = "off"),
};
#undef ROW

static const struct setting_program PROGRAM = {
    .name = "test", .synopsis = "", .intro = "", .settings = TABLE,
    .count = sizeof TABLE / sizeof TABLE[0], .max_operands = 1, .passes_to = "seckilld",
};

struct run {
    struct settings settings;
    struct values values;
    enum settings_result result;
    char said[2048]; /* the output on standard error */
    char *argv[16];  /* `settings` points into it */
};

/* Load the settings with these arguments (until NULL) and keep the output on standard error. */
static void load(struct run *run, const char *const *arguments)
{
    char path[] = "/tmp/seckill-settings-XXXXXX";
    int argc = 1, said = mkstemp(path), saved = dup(STDERR_FILENO);
    ssize_t n;

    memset(run, 0, sizeof *run);
    run->argv[0] = "test";
    for (; arguments[argc - 1]; argc++)
        run->argv[argc] = (char *)(uintptr_t)arguments[argc - 1];
    fflush(stderr);
    dup2(said, STDERR_FILENO);
    run->result = settings_load(&run->settings, &PROGRAM, &run->values, argc,
                                run->argv);
    fflush(stderr);
    dup2(saved, STDERR_FILENO);
    n = pread(said, run->said, sizeof run->said - 1, 0);
    run->said[n > 0 ? n : 0] = '\0';
    close(said);
    close(saved);
    unlink(path);
}

#define LOAD(run, ...) load(run, (const char *const[]){__VA_ARGS__, NULL})

TEST(defaults_stand_when_nobody_says_otherwise)
{
    struct run run;

    load(&run, (const char *const[]){NULL});
    assert_int_equal(run.result, SETTINGS_OK);
    assert_string_equal(run.values.fruit, "apple");
    assert_int_equal(run.values.count, 4);
    assert_int_equal(run.values.wait_ms, 1000);
    assert_false(run.values.verbose);
    assert_null(run.values.secret);
    assert_true(settings_is_default(&run.settings, offsetof(struct values, count)));
    settings_free(&run.settings);
}

TEST(a_setting_of_several_programs_is_found_by_its_meaning)
{
    struct run run;

    load(&run, (const char *const[]){NULL});
    assert_string_equal(settings_common(&PROGRAM, SETTING_IS_COLOR, &run.values), "apple");
    assert_null(settings_common(&PROGRAM, SETTING_IS_MARKDOWN, &run.values));
    settings_free(&run.settings);
}

TEST(a_flag_wins_over_the_environment_and_that_over_the_file)
{
    char path[] = "/tmp/seckill-settings-XXXXXX";
    int file = mkstemp(path);
    struct run run;

    dprintf(file, "# comment\ncount = 2\nfruit = banana\nlock-wait = 2s\n");
    close(file);
    setenv("SECKILL_CONFIG", path, 1);
    setenv("SECKILL_FRUIT", "cherry", 1);
    setenv("SECKILL_LOCK_WAIT", "3s", 1);
    LOAD(&run, "--lock-wait=4s");
    unsetenv("SECKILL_CONFIG");
    unsetenv("SECKILL_FRUIT");
    unsetenv("SECKILL_LOCK_WAIT");
    unlink(path);
    assert_int_equal(run.result, SETTINGS_OK);
    assert_int_equal(run.values.count, 2);
    assert_string_equal(run.values.fruit, "cherry");
    assert_int_equal(run.values.wait_ms, 4000);
    assert_false(settings_is_default(&run.settings, offsetof(struct values, count)));
    settings_free(&run.settings);
}

TEST(a_wrong_value_is_refused_with_what_was_expected)
{
    static const struct {
        const char *argument, *said;
    } CASES[] = {
        {"--fruit=bannana", "test: --fruit: unknown \"bannana\" (flag); did you mean \"banana\"?\n"
                            "  one of: apple banana cherry\n"},
        {"--fruit=zzzzzzzz", "unknown \"zzzzzzzz\" (flag)\n  one of: apple banana cherry\n"},
        {"--count=0", "from 1 to 9"},
        {"--count=4x", "from 1 to 9"},
        {"--count= 4", "from 1 to 9"},
        {"--lock-wait=5", "a whole number with a unit"},
        {"--lock-wait=6s", "expected 0ms to 5s"},
        {"--verbose=yes", "on or off"},
        {"--lock-wiat=1s", "did you mean --lock-wait?"},
        {"--lock-wai=1s", "unknown flag --lock-wai; did you mean --lock-wait?"},
        {"--count", "--count needs a value"},
        {"-q", "unknown flag -q"},
        {"--config=/nonexistent", "cannot read /nonexistent"},
        {"--config=/tmp", "cannot read /tmp: it is a directory"},
        {"--config=/dev/zero", "cannot read /dev/zero: it is no regular file"},
        {"--count=0x4", "from 1 to 9"},
        {"--count=1e0", "from 1 to 9"},
        {"--count=-1", "from 1 to 9"},
        {"--count=99999999999999999999", "from 1 to 9"},
        {"--count=", "from 1 to 9"},
        {"--count=\xef\xbc\x94", "from 1 to 9"},
        {"--count=4\n5", "count \"4; 5\" (flag)"},
        {"--title=", "title \"\" (flag): expected a value"},
        {"--workers=5", "--workers is a flag of seckilld, and stands after --: test -- "
                        "--workers=...\n"},
        {"--redis-urls=redis://:p@h", "unknown flag --redis-urls; "},
        {"--lock-scpoe=user", "did you mean --lock-scope of seckilld?"},
    };
    struct run run;

    for (size_t i = 0; i < sizeof CASES / sizeof CASES[0]; i++) {
        LOAD(&run, CASES[i].argument);
        if (run.result != SETTINGS_USAGE || !strstr(run.said, CASES[i].said))
            fail_msg("%s: said \"%s\", expected \"%s\"", CASES[i].argument, run.said,
                     CASES[i].said);
        settings_free(&run.settings);
    }
}

/* Load the settings while the variable has that value. */
static void load_with(struct run *run, const char *variable, const char *value)
{
    setenv(variable, value, 1);
    load(run, (const char *const[]){NULL});
    unsetenv(variable);
}

TEST(a_variable_that_no_program_knows_is_refused)
{
    static const struct {
        const char *name, *said;
    } CASES[] = {
        {"SECKILL_CUONT", "unknown environment variable SECKILL_CUONT; did you mean "
                          "SECKILL_COUNT?"},
        {"SECKILL_HAZARDS", "did you mean SECKILL_COMPARE_HAZARDS?"},
        {"SECKILL_QQQQQQQQQQQQ", "`seckill help environment` lists them"},
        {"SECKILL_", "unknown environment variable SECKILL_;"},
        {"SECKILL_count", "did you mean SECKILL_COUNT?"},
    };
    struct run run;

    for (size_t i = 0; i < sizeof CASES / sizeof CASES[0]; i++) {
        load_with(&run, CASES[i].name, "5");
        if (run.result != SETTINGS_USAGE || !strstr(run.said, CASES[i].said))
            fail_msg("%s: said \"%s\"", CASES[i].name, run.said);
        settings_free(&run.settings);
    }
}

TEST(a_variable_of_another_program_is_passed_over)
{
    static const char *const NAMES[] = {"SECKILL_LOCK", "SECKILL_LOAD_USERS",
                                        "SECKILL_LAB_DATA", "SECKILL_LAB_DIR"};
    struct run run;

    for (size_t i = 0; i < sizeof NAMES / sizeof NAMES[0]; i++) {
        load_with(&run, NAMES[i], "x");
        assert_string_equal(run.said, "");
        assert_int_equal(run.result, SETTINGS_OK);
        settings_free(&run.settings);
    }
}

TEST(an_empty_variable_is_as_good_as_none)
{
    static const char *const NAMES[] = {"SECKILL_COUNT", "SECKILL_QQQQQQQQQQQQ"};
    struct run run;

    for (size_t i = 0; i < sizeof NAMES / sizeof NAMES[0]; i++) {
        load_with(&run, NAMES[i], "");
        assert_int_equal(run.result, SETTINGS_OK);
        assert_int_equal(run.values.count, 4);
        settings_free(&run.settings);
    }
}

TEST(a_secret_is_never_shown)
{
    char shown[1024] = "";
    FILE *out = fmemopen(shown, sizeof shown, "w");
    struct run run;

    LOAD(&run, "--secret=hunter2", "--count=5");
    settings_show(&run.settings, out);
    fclose(out);
    assert_string_equal(run.values.secret, "hunter2");
    assert_null(strstr(shown, "hunter2"));
    assert_non_null(strstr(shown, "secret = (set)  # flag"));
    assert_non_null(strstr(shown, "count = 5  # flag"));
    assert_non_null(strstr(shown, "fruit = apple  # default"));
    settings_free(&run.settings);
}

TEST(a_flag_of_lines_is_given_again_for_another_line)
{
    struct run run;

    setenv("SECKILL_LINE", "not this", 1);
    LOAD(&run, "--line=one", "--count=5", "--line=two", "--line=three");
    unsetenv("SECKILL_LINE");
    assert_int_equal(run.result, SETTINGS_OK);
    assert_string_equal("one\ntwo\nthree", run.values.lines);
    settings_free(&run.settings);
}

TEST(operands_are_counted)
{
    struct run run;

    LOAD(&run, "one", "--count=5");
    assert_int_equal(run.result, SETTINGS_OK);
    assert_int_equal(run.settings.operand_count, 1);
    assert_string_equal(run.settings.operands[0], "one");
    settings_free(&run.settings);
    LOAD(&run, "one", "two");
    assert_int_equal(run.result, SETTINGS_USAGE);
    assert_non_null(strstr(run.said, "unexpected \"two\""));
    settings_free(&run.settings);
}

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
