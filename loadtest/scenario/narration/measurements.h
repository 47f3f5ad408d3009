/* SPDX-License-Identifier: MIT */
/* measurements.h -- measurements side by side. */
#ifndef LOADTEST_SCENARIO_NARRATION_MEASUREMENTS_H
#define LOADTEST_SCENARIO_NARRATION_MEASUREMENTS_H

#include <stdio.h>

#include "loadtest/scenario/result.h"

/* Print the measurements as one table, row by row; table_write() writes the table to files. */
void table_head(FILE *out, const struct scenario *scenario);
void table_row(FILE *out, const struct scenario_setup *setup,
               const struct scenario_result *r);
void table_foot(FILE *out);
/* "15 of 93 acknowledged updates lost: 16.1 %, 95 % interval ..." */
void table_sentence(FILE *out, const struct scenario_tally *tally);

struct table_line {
    const struct scenario_setup *setup;
    const struct scenario_result *result;
};
/* Write the table to summary.md and summary.json in `dir`.  False: the reason is on stderr. */
bool table_write(const char *dir, const struct table_line *lines, size_t count,
                 int64_t duration_ms, uint64_t seed);

#endif /* LOADTEST_SCENARIO_NARRATION_MEASUREMENTS_H */
