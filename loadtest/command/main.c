/* SPDX-License-Identifier: MIT */
/* main.c -- seckill, the laboratory: which subcommand, and the help above them all. */
#include <stdio.h>
#include <string.h>

#include "base/text/exit_codes.h"
#include "base/text/known_settings.h"
#include "base/text/suggest.h"
#include "base/text/version.h"
#include "loadtest/command/commands.h"
#include "loadtest/kit/interrupt.h"

static const struct command {
    const char *name, *help;
    int (*run)(int argc, char **argv);
    const struct setting_program *program;
} commands[] = {
#define X(id, name, text) {name, text, command_##id, &command_##id##_program},
    COMMANDS(X)
#undef X
};

enum { COMMAND_COUNT = sizeof commands / sizeof commands[0] };

/* What `seckill help` explains besides the commands. */
static const char ENVIRONMENT[] = "environment";

static const char *command_name(size_t i)
{
    return i < COMMAND_COUNT ? commands[i].name : NULL;
}

static const char *topic_name(size_t i)
{
    return i < COMMAND_COUNT ? commands[i].name : i == COMMAND_COUNT ? ENVIRONMENT : NULL;
}

static int refuse(const char *what, const char *word, const char *(*names)(size_t i))
{
    const char *near = suggest(word, names);

    fprintf(stderr, "seckill: unknown %s \"%s\"", what, word);
    if (near)
        fprintf(stderr, "; did you mean \"%s\"?", near);
    fprintf(stderr, "\n  one of:");
    for (size_t i = 0; names(i); i++)
        fprintf(stderr, " %s", names(i));
    fputc('\n', stderr);
    return EXIT_USAGE;
}

static const struct {
    int code;
    const char *text;
} statuses[] = {
#define X(id, code, text) {code, text},
    EXIT_CODES(X)
#undef X
};

static void help(void)
{
    fputs("Usage: seckill COMMAND [OPTIONS]\n\n"
          "The laboratory around seckilld: it starts private servers, drives real load "
          "and\n"
          "real faults at several service processes, and then audits the database.\n\n"
          "  seckill compare                        the whole table, in under three "
          "minutes\n"
          "  seckill compare --locks=lua,reentrant --hazards=slow "
          "--experiments=oversell\n"
          "  seckill lab up && seckill seed --users=100000 --stock=1000\n"
          "  seckill load -- --lock=naive --lock-scope=voucher "
          "--stock-guard=read-write\n\n"
          "Commands:\n",
          stdout);
    for (size_t i = 0; i < COMMAND_COUNT; i++)
        printf("  %-11s %s\n", commands[i].name, commands[i].help);
    fputs("\n`seckill help COMMAND` says more about each, `seckill help environment` "
          "lists the\nvariables of all programs.\n\n"
          "Exit status:\n",
          stdout);
    for (size_t i = 0; i < sizeof statuses / sizeof statuses[0]; i++)
        printf("  %2d  %s\n", statuses[i].code, statuses[i].text);
    fputs("make prints the status and turns each of them into 2.\n", stdout);
}

/* What a newcomer needs, for who names no command. */
static void help_newcomer(void)
{
    fputs("seckill: no command was named.  Begin with one of these:\n\n"
          "  seckill compare                    every lock under every hazard: who oversells\n"
          "  seckill scenario run expired-lease --lock=lua\n"
          "                                     one story of a lock, line by line\n"
          "  seckill locks                      what each lock promises, and what breaks it\n"
          "  seckill lab up                     private servers, for seckilld and wrk by hand\n"
          "  seckill load -- --lock=naive       the service under load once, and the audit\n\n"
          "`seckill help` lists all commands.\n",
          stderr);
}

static void help_environment(void)
{
    char variable[SETTING_NAME_MAX];

    printf("The environment variables of the project, and what each of them sets.  A\n"
           "configuration file calls a setting as its variable, without SECKILL_, in small\n"
           "letters and with dashes: load-users for SECKILL_LOAD_USERS.\n\n");
    for (size_t i = 0; i < KNOWN_SETTING_COUNT; i++) {
        setting_variable(KNOWN_SETTINGS[i].key, variable, sizeof variable);
        printf("%-36s %s --%s\n", variable, KNOWN_SETTINGS[i].program,
               KNOWN_SETTINGS[i].flag);
    }
#define VARIABLE(name, reader, says)                                                   \
    printf("%-36s %s: %s\n", "SECKILL_" name, reader, says);
#include "base/text/variables.def"
#undef VARIABLE
}

/* `seckill help`, `seckill help COMMAND`, `seckill help environment` */
static int help_about(int argc, char **argv)
{
    if (argc == 0) {
        help();
        return EXIT_VALID;
    }
    if (argc > 1) {
        fprintf(stderr, "seckill: help is about one command: seckill help %s\n", argv[0]);
        return EXIT_USAGE;
    }
    if (strcmp(argv[0], ENVIRONMENT) == 0) {
        help_environment();
        return EXIT_VALID;
    }
    for (size_t i = 0; i < COMMAND_COUNT; i++) {
        if (strcmp(commands[i].name, argv[0]) == 0) {
            settings_help(commands[i].program, stdout);
            return EXIT_VALID;
        }
    }
    return refuse("command or topic", argv[0], topic_name);
}

int main(int argc, char **argv)
{
    const char *word = argc > 1 ? argv[1] : "";

    if (argc < 2) {
        help_newcomer();
        return EXIT_USAGE;
    }
    if (strcmp(word, "--help") == 0 || strcmp(word, "-h") == 0 ||
        strcmp(word, "help") == 0)
        return help_about(argc - 2, argv + 2);
    if (strcmp(word, "--version") == 0 || strcmp(word, "-V") == 0) {
        printf("seckill %s\n", SECKILL_VERSION);
        return EXIT_VALID;
    }
    for (size_t i = 0; i < COMMAND_COUNT; i++) {
        if (strcmp(commands[i].name, word) == 0) {
            interrupt_catch();
            return commands[i].run(argc - 1, argv + 1);
        }
    }
    return refuse("command", word, command_name);
}
