/* SPDX-License-Identifier: MIT */
/* exit_codes.h -- what every program of this project says by its exit status. */
#ifndef BASE_EXIT_CODES_H
#define BASE_EXIT_CODES_H

/* Name, status, and what it says; the help and docs/reference/exit-codes.md have the same
 * table. */
#define EXIT_CODES(X)                                                                  \
    X(VALID, 0, "done; of an audit or a check: the run is valid")                      \
    X(INVALID, 1, "the run is invalid, or a cell came out unexpected")                 \
    X(UNKNOWN, 2, "the verdict depends on answers that never came")                    \
    X(THRESHOLD, 3, "a number that was asked for was not reached")                     \
    X(USAGE, 64, "the command line, a variable or a settings file is wrong")           \
    X(UNAVAILABLE, 69, "a server or a program is missing or does not answer")          \
    X(BUG, 70, "the program itself failed; of a service that was told to stop: requests " \
               "were in flight when its time was up")                                  \
    X(CANNOT_WRITE, 73, "a file or directory that was asked for cannot be written")

enum exit_code {
#define X(name, code, text) EXIT_##name = (code),
    EXIT_CODES(X)
#undef X
};

#endif /* BASE_EXIT_CODES_H */
