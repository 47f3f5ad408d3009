/* SPDX-License-Identifier: MIT */
/* command.h -- the part that every subcommand shares: settings, run, exit status. */
#ifndef LOADTEST_KIT_COMMAND_H
#define LOADTEST_KIT_COMMAND_H

#include "base/text/exit_codes.h"
#include "base/text/settings.h"
#include "loadtest/kit/style.h"

/* The function of a command, called when its settings were read into `values`, its struct. */
typedef enum exit_code command_fn(const struct settings *s, const void *values);

/* Read the settings, and run the command unless the words have --help or a mistake.  If the
 * command has --color, the setting takes effect before.  If the command started a pager, wait for
 * its end. */
int command_run(const struct setting_program *program, void *values, int argc,
                char **argv, command_fn *run);

/* The same for a command that takes minutes: at its end stderr says its exit status in
 * words, since make and other callers show only that it was not 0.  With --json-lines the last
 * line is `end`, also if `run` has returned early. */
int command_run_long(const struct setting_program *program, void *values, int argc,
                     char **argv, command_fn *run);

/* Define command_ID(), which main() calls.  `runner` is one of the two functions above,
 * which reads the settings, a struct ID_settings, and calls run() of the same file. */
#define COMMAND_FUNCTION(id, runner)                                                   \
    int command_##id(int argc, char **argv)                                            \
    {                                                                                  \
        struct id##_settings values = {0};                                             \
                                                                                       \
        return runner(&command_##id##_program, &values, argc, argv, run);              \
    }

/* The two fields of a program about its table of settings. */
#define SETTINGS(table) .settings = (table), .count = sizeof(table) / sizeof((table)[0])

/* Explain the exit status `code` of this command, such as "3 cells are unknown: ...", in place of
 * the meaning that --help has.  The last explanation counts, if the command ends with its `code`.
 */
void command_explain_exit(enum exit_code code, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));

/* A row of a command's table of settings, which --help shows below `heading`:
 * GROUPED(COUNT, "seeds", AT(seeds), "What", .max = 9, ...).  The heading of OPTION is
 * "Options". */
#define GROUPED(kind, flag, at, heading, ...)                                          \
    {                                                                                  \
        .type = SETTING_##kind, .name = flag, .offset = (at), .group = heading,        \
        __VA_ARGS__                                                                    \
    }
#define OPTION(kind, flag, at, ...) GROUPED(kind, flag, at, "Options", __VA_ARGS__)

/* Settings that several commands have. */
#define COMMAND_COLOR(at)                                                              \
    GROUPED(CHOICE, "color", at, "Terminal", .fallback = "auto", .meta = "WHEN",       \
            .choices = style_choice_at, .shared = "color", .common = SETTING_IS_COLOR, \
            .help = "colours: auto, on a terminal if $NO_COLOR is empty; always, in "  \
                    "a pipe too; never")
#define COMMAND_NO_PAGER(at)                                                           \
    GROUPED(SWITCH, "no-pager", at, "Terminal", .fallback = "off",                     \
            .shared = "no-pager",                                                      \
            .help = "do not show long output in the pager of $PAGER (default less "    \
                    "-FRX); without a terminal no pager is used")
#define COMMAND_DIR(at)                                                                \
    OPTION(TEXT, "dir", at, .meta = "DIR", .shared = "lab-dir",                        \
           .help = "the directory of the lab; default: .lab in this directory")
#define COMMAND_OWN_DIR(at)                                                            \
    OPTION(TEXT, "dir", at, .meta = "DIR", .shared = "lab-dir",                        \
           .help = "the directory of the lab; default: .lab in this directory.  If "   \
                   "no lab is up there, the command starts one, and stops it at the "  \
                   "end")
#define COMMAND_OUT(at)                                                                \
    OPTION(TEXT, "out", at, .fallback = "runs", .meta = "DIR", .shared = "out",        \
           .output = SETTING_WRITES_DIRECTORY,                                         \
           .help = "the directory in which this run makes its own directory")
#define COMMAND_FRONT(at)                                                              \
    OPTION(SWITCH, "front", at, .fallback = "off",                                     \
           .help = "send all requests to one HAProxy, set up as docker/haproxy.cfg, "  \
                   "which chooses a process for each")
#define COMMAND_RECORD(at)                                                             \
    OPTION(SWITCH, "record", at, .fallback = "off",                                    \
           .help = "record every lock call and every write, for `seckill check`")
#define COMMAND_QUIET(at)                                                              \
    GROUPED(SWITCH, "quiet", at, "Terminal", .fallback = "off",                        \
            .help = "print only the result and errors, without the progress")
#define COMMAND_JSON_LINES(at)                                                         \
    GROUPED(SWITCH, "json-lines", at, "Terminal", .fallback = "off",                   \
            .help = "write one JSON object per line on stdout while the command "      \
                    "runs, for programs; text for people goes to stderr, and --quiet " \
                    "omits it.  docs/reference/json-lines.md has the fields")

/* The settings of a command that runs in a lab and keeps the results; AT() is that of
 * the command's file. */
#define COMMAND_OF_RUNS                                                                \
    COMMAND_OUT(AT(out)), COMMAND_OWN_DIR(AT(dir)), COMMAND_COLOR(AT(color)),          \
        COMMAND_QUIET(AT(quiet)), COMMAND_JSON_LINES(AT(json_lines))

/* Obey --json-lines from now on, if it was given.  Only for a command of command_run_long().
 * False: the reason is on stderr. */
bool command_begin_json_lines(const struct setting_program *program, bool is_wanted,
                              bool is_quiet);

#endif /* LOADTEST_KIT_COMMAND_H */
