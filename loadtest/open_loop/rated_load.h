/* SPDX-License-Identifier: MIT */
/* rated_load.h -- `seckill load`: one run of wrk, or runs at fixed rates. */
#ifndef LOADTEST_OPEN_LOOP_RATED_LOAD_H
#define LOADTEST_OPEN_LOOP_RATED_LOAD_H

#include "loadtest/objective/objective.h"
#include "loadtest/open_loop/open_loop.h"
#include "loadtest/sale/run.h"

struct rated_load {
    struct open_loop open;
    const char *out;   /* where runs make their directories                             */
    bool is_beside_wrk; /* wrk's turn comes afterwards, with fresh vouchers              */
};

/* With --rate: do `plan` with the open loop, print its table and verdict, and write rate.json into
 * its directory, and objectives.json if the audit has objectives.  EXIT_INVALID and EXIT_UNKNOWN
 * are the audit's; EXIT_THRESHOLD, as objectives_exit() says: an objective of the audit does not
 * hold, or there are others, and no step that counts reached its rate and holds them. */
enum exit_code rated_load(struct rated_load *load, const struct run_plan *plan);

/* Without --rate: do the plan with wrk, print its results, and compare them with the objectives.
 * The audit's exit status, or EXIT_THRESHOLD; anything else is run_once()'s. */
enum exit_code wrk_load(const struct run_plan *plan, const struct objectives *objectives);

#endif /* LOADTEST_OPEN_LOOP_RATED_LOAD_H */
