/* SPDX-License-Identifier: MIT */
/* rated.h -- orders at a fixed rate, in place of wrk: the open loop, in a thread of its own.
 *
 * Threads     The functions are called by one thread; the orders are sent by another.
 */
#ifndef LOADTEST_SHOW_RATED_H
#define LOADTEST_SHOW_RATED_H

#include <stdbool.h>
#include <stdint.h>

#include "loadtest/kit/why.h"
#include "loadtest/lab/lab.h"
#include "loadtest/sale/control.h"

struct show_rated_plan {
    const struct lab *lab; /* for the key of the buyers' tokens                          */
    const char *dir;       /* for the page of counts and the ledger                      */
    const int *ports;      /* of the service's processes                                 */
    int processes;
    int connections;       /* at most                                                    */
    int64_t rate;          /* orders a second                                            */
    int64_t duration_ms;   /* at most                                                    */
    int64_t voucher;
    int64_t same_users;    /* as buyers_plan.same_users                                  */
    char *why;             /* WHY_MAX bytes for why it could not be started              */
};

struct show_rated;

/* Start the load; process i is counted as thread i + 1 of the page.  NULL: plan->why. */
struct show_rated *show_rated_start(const struct show_rated_plan *plan);

/* The page of counts; valid until show_rated_end(). */
struct control show_rated_control(const struct show_rated *rated);

/* Is the load still going on? */
bool show_rated_runs(const struct show_rated *rated);

/* Send no more, give up the requests without an answer, and free.  NULL is fine. */
void show_rated_end(struct show_rated *rated);

#endif /* LOADTEST_SHOW_RATED_H */
