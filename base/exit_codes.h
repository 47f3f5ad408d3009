/* SPDX-License-Identifier: MIT */
/* exit_codes.h -- what every program of this project says by its exit status. */
#ifndef BASE_EXIT_CODES_H
#define BASE_EXIT_CODES_H

enum exit_code {
    EXIT_VALID = 0,        /* done; of an audit: the run is valid                   */
    EXIT_INVALID = 1,      /* the run is invalid, or a cell came out unexpected     */
    EXIT_UNKNOWN = 2,      /* the verdict depends on answers that never came        */
    EXIT_THRESHOLD = 3,    /* a number that was asked for was not reached           */
    EXIT_USAGE = 64,       /* the command line or a setting is wrong                */
    EXIT_UNAVAILABLE = 69, /* a server is missing                                   */
    EXIT_BUG = 70,         /* the tool itself failed; of a service that was told to
                            * stop: requests were still in flight when time was up  */
};

#endif /* BASE_EXIT_CODES_H */
