/* SPDX-License-Identifier: MIT */
/* main.c -- seckill, the laboratory: which subcommand. */
#include <signal.h>
#include <stdio.h>
#include <string.h>

#include "base/os/descriptor.h"
#include "base/text/exit_codes.h"
#include "base/text/standard_output.h"
#include "base/text/suggest.h"
#include "base/text/version.h"
#include "loadtest/command/commands.h"
#include "loadtest/kit/interrupt.h"
#include "loadtest/kit/json_lines.h"
#include "loadtest/kit/verdict.h"

static const struct command {
    const char *name;
    int (*run)(int argc, char **argv);
} commands[] = {
#define X(id, name, text) {name, command_##id},
    COMMANDS(X)
#undef X
};

enum { COMMAND_COUNT = sizeof commands / sizeof commands[0] };

static const char *command_name(size_t i)
{
    return i < COMMAND_COUNT ? commands[i].name : NULL;
}

/* Print the first commands to try, for a user who has named no command. */
static void help_newcomer(void)
{
    fputs(
        "seckill: no command was named.  Begin with one of these:\n\n"
        "  seckill compare                    every lock under every hazard: which locks oversell\n"
        "  seckill scenario run expired-lease --locks=lua\n"
        "                                     one scenario, step by step\n"
        "  seckill locks                      what each lock promises, and what breaks it\n"
        "  seckill lab up                     private servers, for seckilld and wrk by hand\n"
        "  seckill load -- --lock=naive       the service under load once, and the audit\n\n"
        "`seckill help` lists all commands.\n",
        stderr);
}

static int run_named(int argc, char **argv)
{
    const char *word = argc > 1 ? argv[1] : "";
    char no_pager[] = "--no-pager", *plainly[] = {argv[0], no_pager, NULL};

    if (argc < 2) {
        help_newcomer();
        return EXIT_USAGE;
    }
    if (strcmp(word, "--version") == 0 || strcmp(word, "-V") == 0) {
        printf("seckill %s\n", SECKILL_VERSION);
        return EXIT_VALID;
    }
    if (strcmp(word, "--help") == 0 || strcmp(word, "-h") == 0)
        return command_help(2, plainly);
    for (size_t i = 0; i < COMMAND_COUNT; i++) {
        if (strcmp(commands[i].name, word) == 0) {
            interrupt_catch();
            return commands[i].run(argc - 1, argv + 1);
        }
    }
    suggest_command("seckill", word, command_name);
    return EXIT_USAGE;
}

/* A verdict, or a failure that the command itself has met, says more than that its text is
 * incomplete: only a command that would have ended with 0 ends with EXIT_CANNOT_WRITE. */
int main(int argc, char **argv)
{
    enum exit_code rc;

    dlock_descriptor_keep_standard();
    /* A write beyond the limit of the size of files then fails, and a message names the file.
     * Children have the default again (child.c), because they must behave as if a user had
     * started them; a run names the signal that has ended wrk. */
    (void)signal(SIGXFSZ, SIG_IGN);
    rc = (enum exit_code)run_named(argc, argv);
    if (standard_output_end("seckill") && standard_output_tell("seckill", json_lines_reason()))
        return (int)rc;
    return (int)verdict_worse_exit(rc, EXIT_CANNOT_WRITE);
}
