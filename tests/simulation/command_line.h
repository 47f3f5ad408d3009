/* SPDX-License-Identifier: MIT */
/* command_line.h -- parses the command line of `build/tests/simulate`. */
#ifndef SIMULATION_COMMAND_LINE_H
#define SIMULATION_COMMAND_LINE_H

#include <stdbool.h>
#include <stdint.h>

#include "tests/simulation/smaller.h"

/* The names of all classes, separated by commas. */
extern const char *const COMMAND_LINE_CLASSES;

/* The texts point into the arguments of the program. */
struct settings {
    const char *variants, *classes;
    uint64_t seed_count, first_seed, seed, check_one_in;
    bool has_seed, twice, is_quiet, plays_stories, hunts, prints_hashes, is_strict, has_less;
    struct smaller less;
    const char *failed_file; /* NULL: none */
    int job_count;
    const char *record_dir; /* NULL: nothing is recorded */
    const char *beside; /* the socket of a real server; NULL: none */
};

/* Read the arguments into `out`.  Ends the program with 0 after --help, and with 64, all accepted
 * values on stderr, for what is not accepted. */
void command_line_read(int argc, char **argv, struct settings *out);

/* Is `name` in the comma-separated `list`, or is "all" in it? */
bool command_line_names(const char *list, const char *name);

#endif /* SIMULATION_COMMAND_LINE_H */
