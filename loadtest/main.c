/* SPDX-License-Identifier: MIT */
/* main.c -- seckill, the laboratory: which subcommand, and the help above them all. */
#include <stdio.h>
#include <string.h>

#include "base/exit_codes.h"
#include "base/suggest.h"
#include "base/version.h"
#include "loadtest/command.h"
#include "loadtest/interrupt.h"

static const struct command {
    const char *name, *help;
    int (*run)(int argc, char **argv);
} commands[] = {
#define X(id, name, text) {name, text, command_##id},
    COMMANDS(X)
#undef X
};

enum { COMMAND_COUNT = sizeof commands / sizeof commands[0] };

static const char *command_name(size_t i)
{
    return i < COMMAND_COUNT ? commands[i].name : NULL;
}

static void help(FILE *out)
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
          out);
    for (size_t i = 0; i < COMMAND_COUNT; i++)
        fprintf(out, "  %-11s %s\n", commands[i].name, commands[i].help);
    fputs("\n`seckill COMMAND --help` says more about each.\n\n"
          "Exit status: 0 as it should be, 1 a run is invalid or a cell unexpected, 2 "
          "a verdict\n"
          "is unknown, 3 a threshold was missed, 64 usage, 69 a server is missing, 70 "
          "a bug.\n",
          out);
}

static int refuse(const char *word)
{
    const char *near = suggest(word, command_name);

    fprintf(stderr, "seckill: unknown command \"%s\"", word);
    if (near)
        fprintf(stderr, "; did you mean \"%s\"?", near);
    fprintf(stderr, "\n  one of:");
    for (size_t i = 0; i < COMMAND_COUNT; i++)
        fprintf(stderr, " %s", commands[i].name);
    fputc('\n', stderr);
    return EXIT_USAGE;
}

int main(int argc, char **argv)
{
    const char *word = argc > 1 ? argv[1] : "--help";

    if (strcmp(word, "--help") == 0 || strcmp(word, "-h") == 0 ||
        strcmp(word, "help") == 0) {
        help(argc > 1 ? stdout : stderr);
        return argc > 1 ? EXIT_VALID : EXIT_USAGE;
    }
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
    return refuse(word);
}
