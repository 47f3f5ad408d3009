/* SPDX-License-Identifier: MIT */
/* command.h -- the part that every subcommand shares: settings, run, exit status. */
#ifndef LOADTEST_KIT_COMMAND_H
#define LOADTEST_KIT_COMMAND_H

#include "base/text/exit_codes.h"
#include "base/text/settings.h"
#include "loadtest/kit/style.h"

/* The function of a command, called once its settings are read into `values`, its struct.
 * */
typedef enum exit_code command_fn(const struct settings *s, const void *values);

/* Read the settings and run the command, unless --help or a mistake came first.  --color, if
 * the command has it, is obeyed from then on, and a pager that the command began is waited
 * for. */
int command_run(const struct setting_program *program, void *values, int argc,
                char **argv, command_fn *run);

/* The same for a command that takes minutes: at its end stderr says its exit status in
 * words, since make and other callers show only that it was not 0. */
int command_run_long(const struct setting_program *program, void *values, int argc,
                     char **argv, command_fn *run);

/* Replace the general words for this command's exit status by particular ones, such as "3
 * cells are unknown: ...", instead of the general words. */
void command_explain_exit(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

/* A row of a command's table of settings: OPTION(COUNT, "stock", AT(stock), .max = 9, ...). */
#define OPTION(kind, flag, at, ...)                                                    \
    {                                                                                  \
        .type = SETTING_##kind, .name = flag, .offset = (at), .group = "Options",      \
        __VA_ARGS__                                                                    \
    }
/* Settings that several commands have. */
#define COMMAND_COLOR(at)                                                              \
    {                                                                                  \
        .type = SETTING_CHOICE, .name = "color", .offset = (at), .fallback = "auto",   \
        .meta = "WHEN", .choices = style_choice_at, .group = "Terminal",               \
        .shared = "color", .common = SETTING_IS_COLOR,                                 \
        .help = "colours: auto, on a terminal if $NO_COLOR is empty; always, in a "    \
                "pipe too; never"                                                      \
    }
#define COMMAND_NO_PAGER(at)                                                           \
    {                                                                                  \
        .type = SETTING_SWITCH, .name = "no-pager", .offset = (at), .fallback = "off", \
        .group = "Terminal", .shared = "no-pager",                                     \
        .help = "do not show long output in the pager of $PAGER (default less -FRX); " \
                "without a terminal no pager is used"                                  \
    }
#define COMMAND_DIR(at)                                                                \
    {                                                                                  \
        .type = SETTING_TEXT, .name = "dir", .offset = (at), .meta = "DIR",            \
        .group = "Options", .shared = "lab-dir",                                       \
        .help = "the directory of the lab; default: .lab in this directory"            \
    }
#define COMMAND_OWN_DIR(at)                                                            \
    {                                                                                  \
        .type = SETTING_TEXT, .name = "dir", .offset = (at), .meta = "DIR",            \
        .group = "Options", .shared = "lab-dir",                                       \
        .help = "the directory of the lab; default: .lab in this directory.  If no "   \
                "lab is up there, the command starts one, and stops it at the end"     \
    }
#define COMMAND_OUT(at)                                                                \
    {                                                                                  \
        .type = SETTING_TEXT, .name = "out", .offset = (at), .fallback = "runs",       \
        .meta = "DIR", .group = "Options", .shared = "out",                            \
        .output = SETTING_WRITES_DIRECTORY,                                            \
        .help = "the directory in which this run makes its own directory"              \
    }

#define COMMAND_QUIET(at)                                                              \
    {                                                                                  \
        .type = SETTING_SWITCH, .name = "quiet", .offset = (at), .fallback = "off",    \
        .group = "Terminal",                                                           \
        .help = "print only the result and errors, without the progress"               \
    }
#define COMMAND_JSON_LINES(at)                                                         \
    {                                                                                  \
        .type = SETTING_SWITCH, .name = "json-lines", .offset = (at),                  \
        .fallback = "off", .group = "Terminal",                                        \
        .help = "write one JSON object per line on stdout while the command runs, "    \
                "for programs; text for people goes to stderr, and --quiet omits it."  \
                "  docs/reference/json-lines.md has the fields"                        \
    }

/* Obey --json-lines from now on, if it was given.  False: the reason is on stderr. */
bool command_begin_json_lines(const struct setting_program *program, bool is_wanted,
                              bool is_quiet);

#endif /* LOADTEST_KIT_COMMAND_H */
