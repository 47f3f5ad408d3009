/* SPDX-License-Identifier: MIT */
/* run.h -- perform scenarios, several at once, each in a process of its own. */
#ifndef LOADTEST_SCENARIO_RUN_H
#define LOADTEST_SCENARIO_RUN_H

#include "loadtest/scenario/plan.h"

/* Perform all setups, and print a table, or, for a single performance, its story while it happens.
 * *performed is the number of results that were written; it may be NULL.
 *   EXIT_VALID         every outcome is the expected one
 *   EXIT_INTERRUPTED   the results so far are written, if there is one */
enum exit_code scenario_run_all(const struct scenario_run *run,
                                const struct scenario_setup *setups, size_t count,
                                size_t *performed);

#endif /* LOADTEST_SCENARIO_RUN_H */
