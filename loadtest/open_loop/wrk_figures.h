/* SPDX-License-Identifier: MIT */
/* wrk_figures.h -- the figures of a run of wrk, for the comparison with objectives.
 *
 * Latencies are those of accepted orders, shares are of all requests that were sent. */
#ifndef LOADTEST_OPEN_LOOP_WRK_FIGURES_H
#define LOADTEST_OPEN_LOOP_WRK_FIGURES_H

#include "loadtest/objective/objective.h"
#include "loadtest/sale/run.h"

enum { WRK_QUANTILES = 6 };

struct wrk_figures {
    double figures[FIGURE_COUNT];        /* NAN: none                                  */
    double quantiles_ms[WRK_QUANTILES];  /* p50, p90, p95, p99, p99.9, p99.99; NAN: none */
};

/* Read load.json in the run's directory, and take the audit's counts from its result.  A
 * figure that is not there is NAN, and so is a count of the audit that missing answers may
 * change. */
void wrk_figures_read(struct wrk_figures *out, const char *dir,
                      const struct run_result *result);

/* The result borrows *figures. */
struct measured wrk_measured(const struct wrk_figures *figures);

/* Take the audit's counts over into the figures of a run; NAN: missing answers may change
 * the count. */
void figures_audit(double figures[FIGURE_COUNT], const struct audit_verdict *verdict);

/* Did the audit find something wrong that none of the objectives is about? */
bool figures_found_others(const struct objectives *objectives,
                          const struct audit_verdict *verdict);

/* Do wrk's figures have each quantile that the objectives are about?  False: `why`
 * (OBJECTIVE_WHY_MAX bytes) names the first that they lack. */
bool objectives_suit_wrk(const struct objectives *objectives, char *why);

#endif /* LOADTEST_OPEN_LOOP_WRK_FIGURES_H */
