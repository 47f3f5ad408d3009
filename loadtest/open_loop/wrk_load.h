/* SPDX-License-Identifier: MIT */
/* wrk_load.h -- `seckill load` without --rate: one run of wrk, and its results. */
#ifndef LOADTEST_OPEN_LOOP_WRK_LOAD_H
#define LOADTEST_OPEN_LOOP_WRK_LOAD_H

#include "loadtest/objective/objective.h"
#include "loadtest/sale/run.h"

/* Do the plan, print its results, and compare them with the objectives.  The audit's exit
 * status, or EXIT_THRESHOLD as objectives_exit() says; anything else is run_once()'s. */
enum exit_code wrk_load(const struct run_plan *plan, const struct objectives *objectives);

#endif /* LOADTEST_OPEN_LOOP_WRK_LOAD_H */
