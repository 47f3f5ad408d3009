/* SPDX-License-Identifier: MIT */
/* rated_load.h -- `seckill load --rate`: runs at fixed rates, and wrk beside them. */
#ifndef LOADTEST_OPEN_LOOP_RATED_LOAD_H
#define LOADTEST_OPEN_LOOP_RATED_LOAD_H

#include "loadtest/open_loop/open_loop.h"
#include "loadtest/sale/run.h"

struct rated_load {
    struct open_loop open;
    const char *out;   /* where runs make their directories                             */
    bool is_beside_wrk; /* wrk's turn comes afterwards, with fresh vouchers              */
};

/* Do `plan` with the open loop, print its table and verdict, and write rate.json into its
 * directory, and objectives.json if the audit has objectives.  EXIT_INVALID and EXIT_UNKNOWN are
 * the audit's; EXIT_THRESHOLD, as objectives_exit() says: an objective of the audit does not hold,
 * or there are others, and no step that counts reached its rate and holds them. */
enum exit_code rated_load(struct rated_load *load, const struct run_plan *plan);

#endif /* LOADTEST_OPEN_LOOP_RATED_LOAD_H */
