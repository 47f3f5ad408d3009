/* SPDX-License-Identifier: MIT */
/* open_loop.h -- `seckill load`: one run of wrk, or runs at fixed rates, step after step. */
#ifndef LOADTEST_OPEN_LOOP_OPEN_LOOP_H
#define LOADTEST_OPEN_LOOP_OPEN_LOOP_H

#include <jansson.h>

#include "base/http/token.h"
#include "loadtest/objective/objective.h"
#include "loadtest/open_loop/answers.h"
#include "loadtest/open_loop/rate.h"
#include "loadtest/sale/run.h"

struct open_loop {
    struct rate_steps rates;
    struct objectives objectives;
    const struct token_keys *keys;
    int64_t duration_ms;   /* of each step                                              */
    int64_t ramp_ms;       /* before the first step, in which the rate rises from 0 to that of
                            * the step; 0: it does not                                  */
    int64_t pause_ms;      /* the service is stopped for, in the middle of each step; 0  */

    /* Filled by the run. */
    json_t *steps;         /* of step_json(); owned                                     */
    struct answers answers; /* of all steps                                             */
    int64_t highest_rate;  /* of the rates that were reached and hold all objectives but the
                            * audit's; 0: none does                                     */
    int short_steps;       /* in which the service did not keep up, see step_falls_short() */
    double most_answered_per_s;
    int counted;           /* steps that say something of the service                   */
};

/* The requests of the ramp and of all steps. */
int64_t open_loop_requests(const struct open_loop *loop);

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

#endif /* LOADTEST_OPEN_LOOP_OPEN_LOOP_H */
