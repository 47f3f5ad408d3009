/* SPDX-License-Identifier: MIT */
/* objective.h -- a limit that the answers of a step must keep: "p99<50ms", "failed<0.1%". */
#ifndef LOADTEST_OPEN_LOOP_OBJECTIVE_H
#define LOADTEST_OPEN_LOOP_OBJECTIVE_H

#include <stdbool.h>
#include <stddef.h>

#include "loadtest/open_loop/step.h"

enum { OBJECTIVES_MAX = 16, OBJECTIVE_TEXT_MAX = 48, OBJECTIVE_WHY_MAX = 256 };

struct objective {
    char text[OBJECTIVE_TEXT_MAX];                /* as it was written                */
    double (*measure)(const struct step_result *, double share);
    double share;                                 /* of a quantile                    */
    double limit;                                 /* in milliseconds, or of 1         */
    bool at_least;                                /* ">": the value must be above     */
};

struct objectives {
    struct objective at[OBJECTIVES_MAX];
    int count;
};

/* Read objectives, one a line or with commas between them: NAME<LIMIT or NAME>LIMIT.
 * NAME is p50, p90, p99, p99.9, p99.99, any other pNN, mean or max (a duration: 50ms, 2s), or
 * failed, accepted or unanswered (a share of all requests: 0.1%).
 * False: `why` (OBJECTIVE_WHY_MAX bytes) names the place and what is accepted there. */
bool objectives_parse(const char *text, struct objectives *out, char *why);

/* Does the step keep this one?  *value, which may be NULL, becomes what was measured, in
 * milliseconds or as a share of 1. */
bool objective_holds(const struct objective *objective, const struct step_result *step,
                     double *value);

/* Does the step keep all of them, and does it count (step_flaw())? */
bool objectives_hold(const struct objectives *objectives, const struct step_result *step);

#endif /* LOADTEST_OPEN_LOOP_OBJECTIVE_H */
