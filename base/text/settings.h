/* SPDX-License-Identifier: MIT */
/* settings.h -- one table of settings gives flags, environment, file and --help.
 *
 * A program describes its settings once, in a table.  From it come: the flag
 * (--lock-wait=200ms), the environment variable (SECKILL_LOCK_WAIT), the key in the
 * configuration file (lock-wait = 200ms), the help text and --show-config.  A later
 * source wins over an earlier one: default, file, environment, flag.
 *
 * A variable or key has one meaning in all programs of the project.  seckilld's are named
 * as its flags are; those of `seckill load` begin with the command (SECKILL_LOAD_USERS,
 * load-users), but for settings that several programs share (`shared` below).  A program
 * passes over the variables and keys of other programs, so that one file or one
 * environment serves all, and refuses those that no program has.
 *
 * Threads     Load once, at the start; after that everything is read-only.
 */
#ifndef BASE_SETTINGS_H
#define BASE_SETTINGS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "base/text/exit_codes.h"

enum setting_type {
    SETTING_TEXT,     /* const char *                                             */
    SETTING_SECRET,   /* const char *, shown as "(set)"                           */
    SETTING_CHOICE,   /* const char *, one of `choices`                           */
    SETTING_NAMES,    /* const char *, "all" or names of `choices` with commas between;
                       * the program takes them apart                             */
    SETTING_COUNT,    /* int64_t, min..max                                        */
    SETTING_DURATION, /* int64_t milliseconds, min..max; written 250ms, 2s, 5m    */
    SETTING_LINES,    /* const char *; a flag given again adds a line              */
    SETTING_SWITCH,   /* bool; written on or off, and a bare flag means on        */
};

enum { SETTING_NAME_MAX = 80 };

/* The kind of output that a setting names. */
enum setting_output {
    SETTING_WRITES_NOTHING,
    SETTING_WRITES_FILE,      /* a file that is replaced; never "-"               */
    SETTING_WRITES_STREAM,    /* the same, or "-" for standard output             */
    SETTING_WRITES_DIRECTORY, /* a directory in which others are made             */
};

/* The settings of text or choice that code common to several programs reads. */
enum setting_common {
    SETTING_OF_ONE_PROGRAM,
    SETTING_IS_COLOR,    /* when to use colours                                   */
    SETTING_IS_MARKDOWN, /* the file for the result as a page                     */
};

/* The `i`th name that a setting accepts, NULL past the last. */
typedef const char *setting_choices_fn(size_t i);

struct setting {
    enum setting_type type;
    const char *name;     /* lower case and dashes                                */
    size_t offset;        /* where in the program's struct its value goes         */
    const char *fallback; /* the default, written as a user would; NULL: none     */
    const char *meta;     /* what the value is called in the help: URL, N, FILE   */
    setting_choices_fn *choices; /* for SETTING_CHOICE and SETTING_NAMES          */
    int64_t min, max;     /* for SETTING_COUNT and SETTING_DURATION               */
    const char *group;    /* the heading it stands under in the help              */
    const char *help;
    const char *shared; /* the key of a setting that several programs have with one
                         * meaning, such as "lab-dir"; NULL: made from program and name */
    enum setting_output output;
    enum setting_common common;
};

struct settings;

struct setting_program {
    const char *name;         /* "seckilld", "seckill compare"                    */
    const char *synopsis;     /* what follows the name: "[OPTIONS] RUN"           */
    const char *intro;        /* the help's first paragraph, with examples        */
    const char *outro;        /* the paragraph before the exit statuses; may be NULL */
    const struct exit_meaning *exits; /* its exit statuses, in ascending order; see
                                       * EXITS()                                     */
    size_t exit_count;
    const struct setting *settings;
    size_t count;
    int max_operands;         /* operands (words that are no flags) it takes      */
    const char *passes_to;    /* the program that it starts with the words after "--";
                               * NULL: none                                       */
    /* Sets by settings_fill() the defaults that depend on other settings; NULL: none. */
    void (*complete)(struct settings *s, void *values);
};

/* The two fields of a program about its ends: EXITS({EXIT_VALID, "done"}, {EXIT_USAGE}). */
#define EXITS(...)                                                                     \
    .exits = (const struct exit_meaning[]){__VA_ARGS__},                               \
    .exit_count =                                                                      \
        sizeof((const struct exit_meaning[]){__VA_ARGS__}) / sizeof(struct exit_meaning)

struct setting_origin {
    const char *source;  /* "default", "environment", "flag", or FILE:LINE        */
    const char *text;    /* the value as it was written; NULL: not set            */
    enum setting_rank {
        SETTING_DEFAULT,
        SETTING_FILE,
        SETTING_ENVIRONMENT,
        SETTING_FLAG,
    } rank;
};

struct settings {
    const struct setting_program *program;
    struct setting_origin *origins; /* one per setting                            */
    const char **keys;              /* one per setting: what a file calls it      */
    char **operands;                /* operand_count of them, borrowed from argv  */
    int operand_count;
    void *heap;                     /* what settings_free() frees                 */
};

enum settings_result {
    SETTINGS_OK,
    SETTINGS_EXIT,  /* --help, --version or --show-config was answered: exit 0   */
    SETTINGS_USAGE, /* stderr says what was wrong and what was expected: exit 64 */
};

/* Read every source into `values` (the program's own struct, at the settings' offsets).
 * --config=FILE names the file; without it SECKILL_CONFIG does; without that there is none.
 * The file is a regular file of at most 1 MiB: lines of key = value or key: value, and
 * lines that begin with # or ; as comments.  A blank and a # or ; begin a comment behind a
 * value.  What cannot be read, an unknown key, a key that is given twice (unless it is of
 * SETTING_LINES) and a wrong value are refused with the file's name and the line.  An
 * empty value in the file or the environment counts as not set.  --help, --version and
 * --show-config are understood by every program.  Text values point into memory that `s`
 * owns, or into argv and the environment. */
enum settings_result settings_load(struct settings *s,
                                   const struct setting_program *program, void *values,
                                   int argc, char **argv);

/* Free what `s` owns; text values die with it.  A zeroed struct is fine. */
void settings_free(struct settings *s);

/* Give a setting of text or choice that no source has set and that has no fallback this
 * default.  The text has to outlive `s`. */
void settings_fill(struct settings *s, void *values, size_t offset, const char *text);

/* Has the setting whose value is at `offset` its default, because no source set it? */
bool settings_is_default(const struct settings *s, size_t offset);

/* Has the setting whose value is at `offset` its value from a flag? */
bool settings_is_flag(const struct settings *s, size_t offset);

/* The value of the program's setting that code common to several programs reads, in
 * `values`; NULL: the program has no such setting, or it was not given.  Lent. */
const char *settings_common(const struct setting_program *program,
                            enum setting_common common, const void *values);

/* Write "name = value  # origin" for each setting, as in a file; secrets are masked. */
void settings_show(const struct settings *s, FILE *out);

void settings_help(const struct setting_program *program, FILE *out);

/* The setting's key in a file, such as "lock-wait" or "load-users"; `size` bytes, of which
 * SETTING_NAME_MAX are enough. */
void setting_key(const struct setting_program *program, const struct setting *setting,
                 char *out, size_t size);

/* The variable that belongs to a key: "lock-wait" -> "SECKILL_LOCK_WAIT". */
void setting_variable(const char *key, char *out, size_t size);

#endif /* BASE_SETTINGS_H */
