/* SPDX-License-Identifier: MIT */
/* performance.h -- a scenario performed once, from its first process to its verdict. */
#ifndef LOADTEST_SCENARIO_PERFORMANCE_H
#define LOADTEST_SCENARIO_PERFORMANCE_H

#include "loadtest/scenario/batch.h"

/* Perform a scenario.  To be called once in a process of its own, which ends afterwards.  Writes
 * the story to stdout, and page.part into its directory.  `number` makes the names of locks
 * different from those of other performances. */
enum exit_code stage_perform(const struct scenario_run *run,
                             const struct performance *p, struct lab *lab,
                             unsigned number);

#endif /* LOADTEST_SCENARIO_PERFORMANCE_H */
