/* SPDX-License-Identifier: MIT */
/* test_settings.c -- the defaults, the file, the environment and the flags, and the values that
 * each of them refuses. */
#include "tests/registered.h"
#include "tests/unit/settings_run.h"

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
