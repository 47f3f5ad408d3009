/* SPDX-License-Identifier: MIT */
/* command.c -- the beginning and the end of every subcommand. */
#include "loadtest/kit/command.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/text/outputs.h"
#include "loadtest/kit/interrupt.h"
#include "loadtest/kit/json_lines.h"
#include "loadtest/kit/pager.h"
#include "loadtest/kit/result_page.h"
#include "loadtest/kit/run_data.h"
#include "loadtest/kit/run_directory.h"

enum { EXPLANATION_MAX = 4096 };

static char explanation[EXPLANATION_MAX]; /* of the status `explained`; "": there is none */
static enum exit_code explained;

void command_explain_exit(enum exit_code code, const char *fmt, ...)
{
    va_list args;

    va_start(args, fmt);
    (void)vsnprintf(explanation, sizeof explanation, fmt, args);
    va_end(args);
    explained = code;
}

/* The meaning of an exit status of the program, as its --help has it. */
static const char *exit_words(const struct setting_program *program, int rc)
{
    const struct exit_row *row = exit_find(rc);

    if (rc == EXIT_INTERRUPTED && !runs_are_kept())
        return "interrupted; nothing was measured";
    for (size_t i = 0; i < program->exit_count; i++)
        if ((int)program->exits[i].code == rc)
            return exit_says(&program->exits[i]);
    return row ? row->says : "the tool itself failed";
}

int command_run(const struct setting_program *program, void *values, int argc,
                char **argv, command_fn *run)
{
    enum exit_code rc = EXIT_USAGE;
    char why[OUTPUTS_WHY_MAX];
    struct settings s;

    switch (settings_load(&s, program, values, argc, argv)) {
    case SETTINGS_OK:
        result_page_command(program->name, argc, argv,
                            settings_common(program, SETTING_IS_MARKDOWN, values));
        run_data_begin(&s, argc, argv);
        style_choose(settings_common(program, SETTING_IS_COLOR, values));
        if (outputs_are_possible(&s, values, why)) {
            rc = run(&s, values);
            pager_end();
        } else {
            eprintf("%s: %s\n", program->name, why);
            rc = EXIT_CANNOT_WRITE;
        }
        break;
    case SETTINGS_EXIT:
        rc = EXIT_VALID;
        break;
    case SETTINGS_USAGE:
        break;
    }
    settings_free(&s);
    return (int)rc;
}

bool command_begin_json_lines(const struct setting_program *program, bool is_wanted,
                              bool is_quiet)
{
    if (!is_wanted || json_lines_begin(is_quiet))
        return true;
    eprintf("%s: --json-lines: %s\n", program->name, strerror(errno));
    return false;
}

int command_run_long(const struct setting_program *program, void *values, int argc,
                     char **argv, command_fn *run)
{
    bool is_explained;
    int rc;

    explanation[0] = '\0';
    rc = command_run(program, values, argc, argv, run);
    is_explained = explanation[0] != '\0' && (int)explained == rc;
    json_lines_end_anyway(rc);
    fflush(stdout); /* the last line comes last, also if stdout and stderr go to one file */
    if ((rc != EXIT_VALID && rc != EXIT_USAGE) || is_explained)
        eprintf("%s: exit %d: %s\n", program->name, rc,
                is_explained ? explanation : exit_words(program, rc));
    return rc;
}
