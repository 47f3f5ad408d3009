/* SPDX-License-Identifier: MIT */
/* exit_codes.h -- the exit statuses of all programs of this project.
 *
 * Threads     Any; the list never changes.
 */
#ifndef BASE_EXIT_CODES_H
#define BASE_EXIT_CODES_H

#include <stddef.h>

/* Constant, status, name, and what it says, in the order of the statuses.  The constants,
 * --help, the manual pages and docs/reference/exit-codes.md come from these rows. */
#define EXIT_CODES(X)                                                                  \
    X(VALID, 0, "valid", "done; of an audit or a check: the run is valid")             \
    X(INVALID, 1, "invalid", "the run is invalid, or a cell is unexpected")            \
    X(UNKNOWN, 2, "unknown",                                                           \
      "the verdict is unknown: the evidence is not complete, or nothing was shown")    \
    X(THRESHOLD, 3, "threshold", "a target or an objective was not reached")           \
    X(USAGE, 64, "usage", "the command line, a variable or a settings file is wrong")  \
    X(UNAVAILABLE, 69, "unavailable",                                                  \
      "a server or a program is missing or does not answer")                           \
    X(BUG, 70, "bug", "the program itself failed")                                     \
    X(CANNOT_WRITE, 73, "cannot-write",                                                \
      "an output file, a directory or standard output cannot be written")              \
    X(INTERRUPTED, 130, "interrupted", "interrupted; the results so far are kept")

enum exit_code {
#define X(id, code, name, text) EXIT_##id = (code),
    EXIT_CODES(X)
#undef X
};

struct exit_row {
    enum exit_code code;
    const char *name;
    const char *says;
};

/* The row with this number, NULL past the last.  Static. */
const struct exit_row *exit_at(size_t i);

/* The row of a status, NULL if the list has none.  Static. */
const struct exit_row *exit_find(int code);

/* An exit status of one program.  `says` is the meaning of the status in this program;
 * NULL: the list's text. */
struct exit_meaning {
    enum exit_code code;
    const char *says;
};

/* The text of a meaning, its own or the list's.  Static. */
const char *exit_says(const struct exit_meaning *meaning);

#endif /* BASE_EXIT_CODES_H */
