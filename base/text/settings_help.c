/* SPDX-License-Identifier: MIT */
/* settings_help.c -- the help text that a table of settings gives. */
#include "base/text/settings.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/text/paragraph.h"

enum { INDENT = 6, EXIT_INDENT = 7 };

/* Write `text` in lines, each indented. */
static void wrap(FILE *out, const char *text, size_t indent)
{
    struct paragraph p = {.out = out, .indent = indent};

    paragraph_words(&p, text);
    fputc('\n', out);
}

static void print_choices(const struct setting *setting, FILE *out)
{
    struct paragraph p = {.out = out, .indent = INDENT};

    paragraph_words(&p, setting->type == SETTING_NAMES
                            ? "all, or any of these with commas between them:"
                            : "one of:");
    for (size_t i = 0; setting->choices(i); i++)
        paragraph_name(&p, setting->choices(i));
    fputc('\n', out);
}

static void print_setting(const struct setting_program *program,
                          const struct setting *setting, FILE *out)
{
    char key[SETTING_NAME_MAX], variable[SETTING_NAME_MAX];

    fprintf(out, "  --%s", setting->name);
    if (setting->type == SETTING_SWITCH)
        fprintf(out, "[=on|off]");
    else
        fprintf(out, "=%s", setting->meta ? setting->meta : "NAME");
    if (setting->fallback)
        fprintf(out, "  (default %s)", setting->fallback);
    fputc('\n', out);
    wrap(out, setting->help, INDENT);
    if (setting->choices)
        print_choices(setting, out);
    setting_key(program, setting, key, sizeof key);
    setting_variable(key, variable, sizeof variable);
    fprintf(out, "%*s$%s, in a file: %s\n", INDENT, "", variable, key);
}

/* Write a headline and a line for each exit status. tools/manual-program.awk makes a
 * section of them. */
static void print_exits(const struct setting_program *program, FILE *out)
{
    if (program->exit_count > 0)
        fputs("\nExit status\n", out);
    for (size_t i = 0; i < program->exit_count; i++) {
        struct paragraph p = {.out = out, .indent = EXIT_INDENT};
        char code[8];

        snprintf(code, sizeof code, "  %-4d", (int)program->exits[i].code);
        fputs(code, out);
        p.column = strlen(code);
        paragraph_words(&p, exit_says(&program->exits[i]));
        fputc('\n', out);
    }
}

void settings_help(const struct setting_program *program, FILE *out)
{
    const char *group = "";

    fprintf(out, "Usage: %s %s\n\n%s\n", program->name, program->synopsis, program->intro);
    for (size_t i = 0; i < program->count; i++) {
        if (strcmp(program->settings[i].group, group) != 0) {
            group = program->settings[i].group;
            fprintf(out, "\n%s\n", group);
        }
        print_setting(program, &program->settings[i], out);
    }
    fprintf(out, "\nEvery program\n"
                 "  --config=FILE   read settings from FILE: lines of key = value; what a file\n"
                 "                  calls a setting stands beside its variable\n"
                 "                  ($SECKILL_CONFIG); a # or ; at the begin of a line or\n"
                 "                  after a blank begins a comment\n"
                 "  --show-config   print every setting and where its value comes from\n"
                 "  --help, -h      this text\n"
                 "  --version, -V   the version\n"
                 "A flag overrides the environment, the environment overrides the file, and the\n"
                 "file overrides the default.\n"
                 "An empty variable and an empty value in the file count as not set.  Variables\n"
                 "and keys of the project's other programs are ignored; `seckill help\n"
                 "environment` lists them all.\n");
    if (program->outro) {
        fputc('\n', out);
        wrap(out, program->outro, 0);
    }
    print_exits(program, out);
}
