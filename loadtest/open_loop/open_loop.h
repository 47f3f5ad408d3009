/* SPDX-License-Identifier: MIT */
/* open_loop.h -- the load of a run at fixed rates, step after step, in place of wrk. */
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

/* A run_load_fn: `arg` is a struct open_loop.  Each step is printed on stdout as it ends;
 * load.json in the run's directory has what wrk's has. */
enum exit_code open_loop_run(void *arg, const struct run_stage *stage);

/* The requests of the ramp and of all steps. */
int64_t open_loop_requests(const struct open_loop *loop);

/* Free what the run made.  A zeroed struct is fine. */
void open_loop_free(struct open_loop *loop);

#endif /* LOADTEST_OPEN_LOOP_OPEN_LOOP_H */
