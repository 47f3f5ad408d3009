/* SPDX-License-Identifier: MIT */
/* performance.h -- a scenario performed once, from its first process to its verdict. */
#ifndef LOADTEST_SCENARIO_PERFORMANCE_H
#define LOADTEST_SCENARIO_PERFORMANCE_H

#include "loadtest/scenario/batch.h"

/* Perform it: in a process of its own, which this call is the whole life of.  Writes
 * what there is to stdout, and page.part in its directory.  `number` makes names
 * different from those of other performances. */
enum exit_code stage_perform(const struct scenario_run *run,
                             const struct performance *p, struct lab *lab,
                             unsigned number);

#endif /* LOADTEST_SCENARIO_PERFORMANCE_H */
