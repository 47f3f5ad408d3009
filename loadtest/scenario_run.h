/* SPDX-License-Identifier: MIT */
/* scenario_run.h -- perform scenarios, several at once, each in a process of its own. */
#ifndef LOADTEST_SCENARIO_RUN_H
#define LOADTEST_SCENARIO_RUN_H

#include "loadtest/scenario_inside.h"

struct scenario_run {
    const char *dir;     /* of the lab that is used if it is up                       */
    const char *out;     /* where the files of this run go: a directory that is there */
    const char *html;    /* NULL: no page                                             */
    bool is_chinese, shows_wire;
    int jobs;            /* 0: as many as do not get in each other's way             */
    int64_t duration_ms; /* of measurements; 0: each has its own                     */
    uint64_t seed;
};

/* Perform them all, and print a table (or, if there is one only, the story as it
 * happens).  VALID: each came out as expected. */
enum exit_code scenario_run_all(const struct scenario_run *run,
                                const struct scenario_cast *casts, size_t count);

#endif /* LOADTEST_SCENARIO_RUN_H */
