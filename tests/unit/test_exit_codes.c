/* SPDX-License-Identifier: MIT */
/* test_exit_codes.c -- the exit codes of all programs are rows of one list. */
#include <stdbool.h>
#include <string.h>

#include "app/config.h"
#include "base/text/exit_codes.h"
#include "base/text/settings.h"
#include "loadtest/command/commands.h"
#include "tests/registered.h"

static const struct setting_program *const PROGRAMS[] = {
    &config_program,
#define X(id, word, help) &command_##id##_program,
    COMMANDS(X)
#undef X
};

TEST(rows_are_in_order_and_named_once)
{
    const struct exit_row *row;

    assert_int_equal(exit_at(0)->code, 0);
    for (size_t i = 0; (row = exit_at(i)) != NULL; i++) {
        assert_true(row->name[0] != '\0' && row->says[0] != '\0');
        assert_ptr_equal(exit_find((int)row->code), row);
        for (size_t j = 0; j < i; j++) {
            assert_true(exit_at(j)->code < row->code);
            assert_string_not_equal(exit_at(j)->name, row->name);
        }
    }
    assert_null(exit_find(4));
    assert_null(exit_find(-1));
}

/* A shell itself exits with 126 to 128, and with 128 + N after a program that signal N ended. */
TEST(no_status_is_one_of_a_shell)
{
    const struct exit_row *row;

    for (size_t i = 0; (row = exit_at(i)) != NULL; i++)
        assert_true(row->code < 126 || row->code == EXIT_INTERRUPTED);
    assert_int_equal(EXIT_INTERRUPTED, 128 + 2);
}

TEST(each_program_says_what_its_statuses_mean)
{
    for (size_t p = 0; p < sizeof(PROGRAMS) / sizeof(PROGRAMS[0]); p++) {
        const struct setting_program *program = PROGRAMS[p];
        bool has_usage = false;

        if (program->exit_count == 0 || program->exits[0].code != EXIT_VALID)
            fail_msg("%s does not say with what it ends when it is done", program->name);
        for (size_t i = 0; i < program->exit_count; i++) {
            const struct exit_meaning *e = &program->exits[i];

            if (exit_find((int)e->code) == NULL || exit_says(e)[0] == '\0')
                fail_msg("%s: %d is no status", program->name, (int)e->code);
            if (i > 0 && program->exits[i - 1].code >= e->code)
                fail_msg("%s: %d is out of order", program->name, (int)e->code);
            has_usage = has_usage || e->code == EXIT_USAGE;
        }
        if (!has_usage)
            fail_msg("%s does not say what a wrong flag ends it with", program->name);
    }
}

TEST(a_meaning_without_words_has_those_of_the_list)
{
    const struct exit_meaning own = {EXIT_UNAVAILABLE, "the port is taken"};
    const struct exit_meaning lent = {EXIT_UNAVAILABLE, NULL};

    assert_string_equal(exit_says(&own), "the port is taken");
    assert_string_equal(exit_says(&lent), exit_find(EXIT_UNAVAILABLE)->says);
}
