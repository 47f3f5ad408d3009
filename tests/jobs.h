/* SPDX-License-Identifier: MIT */
/* jobs.h -- runs tests, the cases, side by side, each in a process of its own, and prints TAP.
 *
 * A case is numbered by its place among those that have ended. Of a case that passed only the lines
 * "# begun anew: " are printed; of a case that failed all that it printed. */
#ifndef TESTS_JOBS_H
#define TESTS_JOBS_H

#include <stdbool.h>
#include <stddef.h>

struct jobs {
    size_t count;
    const char *(*name)(size_t which);
    /* Called in the process of the case; its exit code. 0: the case passed. */
    int (*run)(size_t which);
    /* The bit of what the case must not share with another case at the same time, or 0. NULL: all
     * cases may run at the same time. */
    unsigned (*alone_with)(size_t which);
    unsigned at_once;
    bool fail_fast; /* the first failure ends the other cases */
};

/* Call it in a process with one thread. Returns 0 if all cases passed, else 1. */
int jobs_run(const struct jobs *jobs);

#endif /* TESTS_JOBS_H */
