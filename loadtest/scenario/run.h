/* SPDX-License-Identifier: MIT */
/* run.h -- perform scenarios, several at once, each in a process of its own. */
#ifndef LOADTEST_SCENARIO_RUN_H
#define LOADTEST_SCENARIO_RUN_H

#include "loadtest/scenario/plan.h"

/* Perform them all, and print a table (or, if there is one only, the story as it
 * happens).  VALID: each came out as expected. */
enum exit_code scenario_run_all(const struct scenario_run *run,
                                const struct scenario_setup *setups, size_t count);

#endif /* LOADTEST_SCENARIO_RUN_H */
