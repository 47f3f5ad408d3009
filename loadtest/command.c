/* SPDX-License-Identifier: MIT */
/* command.c -- what every subcommand begins and ends with. */
#include "loadtest/command.h"

int command_run(const struct setting_program *program, void *values, int argc,
                char **argv, command_fn *run)
{
    enum exit_code rc = EXIT_USAGE;
    struct settings s;

    switch (settings_load(&s, program, values, argc, argv)) {
    case SETTINGS_OK:
        rc = run(&s, values);
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
