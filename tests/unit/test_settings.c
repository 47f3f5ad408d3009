/* SPDX-License-Identifier: MIT */
/* test_settings.c -- defaults, file, environment and flags, and what each refuses. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/settings.h"

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

static const struct setting TABLE[] = {
    {SETTING_TEXT, "title", offsetof(struct values, title), "none", "TEXT", NULL, 0, 0, "A", "h"},
    {SETTING_SECRET, "secret", offsetof(struct values, secret), NULL, "TEXT", NULL, 0, 0, "A", "h"},
    {SETTING_CHOICE, "fruit", offsetof(struct values, fruit), "apple", "NAME", fruit_at, 0, 0, "A", "h"},
    {SETTING_COUNT, "count", offsetof(struct values, count), "4", "N", NULL, 1, 9, "A", "h"},
    {SETTING_DURATION, "lock-wait", offsetof(struct values, wait_ms), "1s", "DURATION", NULL, 0, 5000, "A", "h"},
    {SETTING_LINES, "line", offsetof(struct values, lines), NULL, "TEXT", NULL, 0, 0, "A", "h"},
    {SETTING_SWITCH, "verbose", offsetof(struct values, verbose), "off", NULL, NULL, 0, 0, "A", "h"},
};

static const struct setting_program PROGRAM = {
    .name = "test", .synopsis = "", .intro = "", .settings = TABLE,
    .count = sizeof TABLE / sizeof TABLE[0], .max_operands = 1,
};

struct run {
    struct settings settings;
    struct values values;
    enum settings_result result;
    char said[2048]; /* on standard error */
};

/* Load with these arguments (until NULL) and keep what was said. */
static void load(struct run *run, const char *const *arguments)
{
    char *argv[16] = {"test"};
    char path[] = "/tmp/seckill-settings-XXXXXX";
    int argc = 1, said = mkstemp(path), saved = dup(STDERR_FILENO);
    ssize_t n;

    for (; arguments[argc - 1]; argc++)
        argv[argc] = (char *)(uintptr_t)arguments[argc - 1];
    memset(run, 0, sizeof *run);
    fflush(stderr);
    dup2(said, STDERR_FILENO);
    run->result = settings_load(&run->settings, &PROGRAM, &run->values, argc, argv);
    fflush(stderr);
    dup2(saved, STDERR_FILENO);
    n = pread(said, run->said, sizeof run->said - 1, 0);
    run->said[n > 0 ? n : 0] = '\0';
    close(said);
    close(saved);
    unlink(path);
}

#define LOAD(run, ...) load(run, (const char *const[]){__VA_ARGS__, NULL})

static void defaults_stand_when_nobody_says_otherwise(void **state)
{
    struct run run;

    (void)state;
    load(&run, (const char *const[]){NULL});
    assert_int_equal(run.result, SETTINGS_OK);
    assert_string_equal(run.values.fruit, "apple");
    assert_int_equal(run.values.count, 4);
    assert_int_equal(run.values.wait_ms, 1000);
    assert_false(run.values.verbose);
    assert_null(run.values.secret);
    assert_true(settings_is_default(&run.settings, "count"));
    settings_free(&run.settings);
}

static void a_flag_wins_over_the_environment_and_that_over_the_file(void **state)
{
    char path[] = "/tmp/seckill-settings-XXXXXX";
    int file = mkstemp(path);
    struct run run;

    (void)state;
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
    assert_false(settings_is_default(&run.settings, "count"));
    settings_free(&run.settings);
}

static void a_wrong_value_is_refused_with_what_was_expected(void **state)
{
    static const struct {
        const char *argument, *said;
    } CASES[] = {
        {"--fruit=bannana", "did you mean \"banana\"?"},
        {"--fruit=zzzzzzzz", "one of: apple banana cherry"},
        {"--count=0", "from 1 to 9"},
        {"--count=4x", "from 1 to 9"},
        {"--count= 4", "from 1 to 9"},
        {"--lock-wait=5", "a whole number with a unit"},
        {"--lock-wait=6s", "expected 0ms to 5s"},
        {"--verbose=yes", "on or off"},
        {"--lock-wiat=1s", "did you mean --lock-wait?"},
        {"--count", "--count needs a value"},
        {"-q", "unknown flag -q"},
        {"--config=/nonexistent", "cannot read /nonexistent"},
    };
    struct run run;

    (void)state;
    for (size_t i = 0; i < sizeof CASES / sizeof CASES[0]; i++) {
        LOAD(&run, CASES[i].argument);
        if (run.result != SETTINGS_USAGE || !strstr(run.said, CASES[i].said))
            fail_msg("%s: said \"%s\", expected \"%s\"", CASES[i].argument, run.said,
                     CASES[i].said);
        settings_free(&run.settings);
    }
}

static void an_unknown_key_in_the_file_is_refused(void **state)
{
    char path[] = "/tmp/seckill-settings-XXXXXX";
    int file = mkstemp(path);
    char flag[64];
    struct run run;

    (void)state;
    dprintf(file, "cuont = 2\n");
    close(file);
    snprintf(flag, sizeof flag, "--config=%s", path);
    LOAD(&run, flag);
    unlink(path);
    assert_int_equal(run.result, SETTINGS_USAGE);
    assert_non_null(strstr(run.said, "did you mean \"count\"?"));
    settings_free(&run.settings);
}

static void a_secret_is_never_shown(void **state)
{
    char shown[1024] = "";
    FILE *out = fmemopen(shown, sizeof shown, "w");
    struct run run;

    (void)state;
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

static void a_flag_of_lines_is_given_again_for_another_line(void **state)
{
    struct run run;

    (void)state;
    setenv("SECKILL_LINE", "not this", 1);
    LOAD(&run, "--line=one", "--count=5", "--line=two", "--line=three");
    unsetenv("SECKILL_LINE");
    assert_int_equal(run.result, SETTINGS_OK);
    assert_string_equal("one\ntwo\nthree", run.values.lines);
    settings_free(&run.settings);
}

static void operands_are_counted(void **state)
{
    struct run run;

    (void)state;
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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(defaults_stand_when_nobody_says_otherwise),
        cmocka_unit_test(a_flag_wins_over_the_environment_and_that_over_the_file),
        cmocka_unit_test(a_wrong_value_is_refused_with_what_was_expected),
        cmocka_unit_test(an_unknown_key_in_the_file_is_refused),
        cmocka_unit_test(a_secret_is_never_shown),
        cmocka_unit_test(a_flag_of_lines_is_given_again_for_another_line),
        cmocka_unit_test(operands_are_counted),
    };

    return cmocka_run_group_tests_name("settings", tests, NULL, NULL);
}
