/* SPDX-License-Identifier: MIT */
/* help.c -- `seckill help`: the overview, a command's own help, and all variables. */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text/exit_codes.h"
#include "base/text/known_settings.h"
#include "base/text/paragraph.h"
#include "base/text/suggest.h"
#include "loadtest/command/commands.h"
#include "loadtest/kit/command.h"
#include "loadtest/kit/memory.h"
#include "loadtest/kit/pager.h"
#include "loadtest/kit/why.h"

struct help_settings {
    const char *color;
    bool no_pager;
};

#define AT(field) offsetof(struct help_settings, field)
static const struct setting settings[] = {
    COMMAND_COLOR(AT(color)),
    COMMAND_NO_PAGER(AT(no_pager)),
};

const struct setting_program command_help_program = {
    .name = "seckill help",
    .synopsis = "[COMMAND|environment] [OPTIONS]",
    .intro = "Print the list of commands, the help of one command, or the variables of all\n"
             "programs; on a terminal in a pager.  `seckill COMMAND --help` uses no pager.\n\n"
             "  seckill help scenario\n"
             "  seckill help environment",
    EXITS({EXIT_VALID, "done"}, {EXIT_USAGE, "there is no such command, or a flag is wrong"},
          {EXIT_CANNOT_WRITE, "standard output cannot be written"}),
    SETTINGS(settings),
    .max_operands = 1,
};

static const struct {
    const char *name, *help;
    const struct setting_program *program;
} commands[] = {
#define X(id, name, text) {name, text, &command_##id##_program},
    COMMANDS(X)
#undef X
};

enum { COMMAND_COUNT = sizeof commands / sizeof commands[0], EXIT_INDENT = 21 };

/* The topic that is no command. */
static const char ENVIRONMENT[] = "environment";

static const char *topic_name(size_t i)
{
    return i < COMMAND_COUNT ? commands[i].name : i == COMMAND_COUNT ? ENVIRONMENT : NULL;
}

static void print_exit(FILE *out, const struct exit_row *row)
{
    struct paragraph p = {.out = out, .indent = EXIT_INDENT};

    p.column = (size_t)fprintf(out, "  %-3d  %-12s ", (int)row->code, row->name);
    paragraph_words(&p, row->says);
    fputc('\n', out);
}

static void print_overview(FILE *out)
{
    const struct exit_row *row;

    fputs("Usage: seckill COMMAND [OPTIONS]\n\n"
          "The laboratory of seckilld: it starts private servers, runs several processes of the\n"
          "service under real load and real faults, and audits the database afterwards.\n\n"
          "  seckill compare                        the whole table, in about ten minutes\n"
          "  seckill compare --locks=lua,reentrant --hazards=slow "
          "--experiments=oversell\n"
          "  seckill lab up && seckill seed --users=100000 --stock=1000\n"
          "  seckill load -- --lock=naive --lock-scope=voucher "
          "--stock-guard=read-write\n\n"
          "Commands:\n",
          out);
    for (size_t i = 0; i < COMMAND_COUNT; i++)
        fprintf(out, "  %-11s %s\n", commands[i].name, commands[i].help);
    fputs("\n`seckill help COMMAND` describes a command, and `seckill help environment` lists the\n"
          "variables of all programs.\n\n"
          "Exit status:\n",
          out);
    for (size_t i = 0; (row = exit_at(i)) != NULL; i++)
        print_exit(out, row);
    fputs("If a command fails, make prints its status, and exits with 2 itself.\n", out);
}

static void print_environment(FILE *out)
{
    char variable[SETTING_NAME_MAX];

    fprintf(out,
           "The environment variables of the project, with the flag of each.  The key in a\n"
           "settings file is the variable without SECKILL_, in small letters and with dashes:\n"
           "load-users for SECKILL_LOAD_USERS.\n\n");
    for (size_t i = 0; i < KNOWN_SETTING_COUNT; i++) {
        setting_variable(KNOWN_SETTINGS[i].key, variable, sizeof variable);
        fprintf(out, "%-36s %s --%s\n", variable, KNOWN_SETTINGS[i].program,
               KNOWN_SETTINGS[i].flag);
    }
#define VARIABLE(name, reader, says)                                                   \
    fprintf(out, "%-36s %s: %s\n", "SECKILL_" name, reader, says);
#include "base/text/variables.def"
#undef VARIABLE
}

/* False: there is no such topic. */
static bool print_topic(FILE *out, const char *topic)
{
    if (!topic) {
        print_overview(out);
        return true;
    }
    if (strcmp(topic, ENVIRONMENT) == 0) {
        print_environment(out);
        return true;
    }
    for (size_t i = 0; i < COMMAND_COUNT; i++) {
        if (strcmp(commands[i].name, topic) == 0) {
            settings_help(commands[i].program, out);
            return true;
        }
    }
    return false;
}

/* A line at the margin after an empty one, above a line that is indented. */
static bool is_heading(const char *text, const char *line, const char *end)
{
    return isupper((unsigned char)*line) && (line == text || line[-2] == '\n') &&
           strncmp(end, "\n  ", 3) == 0 && end[-1] != '.';
}

static void print_with_headings(const char *text)
{
    for (const char *line = text, *end; *line; line = end + (*end == '\n')) {
        bool is_bold;

        end = line + strcspn(line, "\n");
        is_bold = is_heading(text, line, end);
        printf("%s%.*s%s\n", is_bold ? report_style(stdout, STYLE_BOLD) : "",
               (int)(end - line), line, is_bold ? report_style(stdout, STYLE_PLAIN) : "");
    }
}

static enum exit_code run(const struct settings *s, const void *values)
{
    const struct help_settings *v = values;
    const char *topic = s->operand_count > 0 ? s->operands[0] : NULL;
    char *text = NULL;
    size_t size;
    FILE *out = memory_need(open_memstream(&text, &size));
    bool is_known = print_topic(out, topic);

    fclose(out);
    if (is_known) {
        if (!v->no_pager)
            pager_begin();
        print_with_headings(text);
    } else {
        eprintf("seckill: unknown command or topic \"%s\"", topic);
        suggest_tell(topic, topic_name);
    }
    free(text);
    return is_known ? EXIT_VALID : EXIT_USAGE;
}

COMMAND_FUNCTION(help, command_run)
