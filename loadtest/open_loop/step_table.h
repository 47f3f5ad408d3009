/* SPDX-License-Identifier: MIT */
/* step_table.h -- the steps of an open loop as lines of a table. */
#ifndef LOADTEST_OPEN_LOOP_STEP_TABLE_H
#define LOADTEST_OPEN_LOOP_STEP_TABLE_H

#include <stdio.h>

#include "loadtest/open_loop/step.h"

void step_table_head(FILE *out, const struct objectives *objectives);

/* Print a step, and whether the step holds the objectives; the first objective that the step
 * misses is named. */
void step_table_row(FILE *out, const struct objectives *objectives,
                    const struct step_result *step);

#endif /* LOADTEST_OPEN_LOOP_STEP_TABLE_H */
