/* SPDX-License-Identifier: MIT */
/* objective.h -- a limit that a run must keep: "p99<50ms", "failed<0.1%", "oversold=0".
 *
 * `seckill load` and `seckill compare` read, judge and name objectives by these functions.
 *
 * Threads     Any; nothing here is shared.
 */
#ifndef LOADTEST_OBJECTIVE_OBJECTIVE_H
#define LOADTEST_OBJECTIVE_OBJECTIVE_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "base/text/exit_codes.h"

enum {
    OBJECTIVES_MAX = 16,
    OBJECTIVE_TEXT_MAX = 48,
    OBJECTIVE_WHY_MAX = 320,
    OBJECTIVE_VALUE_MAX = 48,
    OBJECTIVE_SAYS_MAX = OBJECTIVE_TEXT_MAX + OBJECTIVE_VALUE_MAX + 32,
};

/* The figures that an objective may be about, besides quantiles of the latency.
 *
 * X(id, name, unit) */
#define FIGURES(X)                                                                     \
    X(MEAN, "mean", DURATION)                                                          \
    X(MAX, "max", DURATION)                                                            \
    X(FAILED, "failed", SHARE)                                                         \
    X(ACCEPTED, "accepted", SHARE)                                                     \
    X(UNANSWERED, "unanswered", SHARE)                                                 \
    X(RATE, "rate", COUNT)                                                             \
    X(OVERSOLD, "oversold", COUNT)                                                     \
    X(DOUBLES, "doubles", COUNT)                                                       \
    X(LOST, "lost", COUNT)

enum figure {
#define X(id, name, unit) FIGURE_##id,
    FIGURES(X)
#undef X
    FIGURE_QUANTILE, /* of the latency                                                */
    FIGURE_COUNT = FIGURE_QUANTILE,
};

/* The names of all, for a help text. */
#define OBJECTIVE_NAMES                                                                \
    "p50, p90, p95, p99, p99.9, p99.99, mean, max (50ms), failed, accepted, unanswered " \
    "(0.1%), rate (accepted orders per second), oversold, doubles, lost (0)"

/* The measured figures of a run.  NAN: the run has no such figure. */
struct measured {
    double figures[FIGURE_COUNT]; /* milliseconds, shares of 1, or counts              */
    /* The latency that `share` of the requests did not exceed, in milliseconds; NAN: not
     * known.  NULL: no latency is known. */
    double (*quantile_ms)(const void *of, double share);
    const void *of;
};

/* No figure is known. */
struct measured measured_nothing(void);

struct objective {
    char text[OBJECTIVE_TEXT_MAX]; /* as it was written                               */
    enum figure figure;
    double share;                  /* of a quantile                                   */
    enum objective_sign { SIGN_BELOW, SIGN_AT_MOST, SIGN_EQUAL, SIGN_AT_LEAST, SIGN_ABOVE } sign;
    double limit;                  /* in milliseconds, of 1, or a count               */
};

struct objectives {
    struct objective at[OBJECTIVES_MAX];
    int count;
};

/* Read objectives, one a line or with commas between them: a name of FIGURES or pNN, one of
 * < <= = >= >, and a limit: a duration (50ms, 2s), a share (0.1%) or a whole number.
 * False: `why` (OBJECTIVE_WHY_MAX bytes) names the place and what is accepted there, and *out
 * is as it was. */
bool objectives_parse(const char *text, struct objectives *out, char *why);

/* The objectives that only the audit can judge, and the other objectives. */
struct objectives objectives_of_audit(const struct objectives *objectives);
struct objectives objectives_without_audit(const struct objectives *objectives);

/* UNJUDGED: the run has no such figure.  Such an objective does not hold. */
enum objective_state { OBJECTIVE_HOLDS, OBJECTIVE_MISSED, OBJECTIVE_UNJUDGED };

/* Compare the objective with the measured figure.  *value, which may be NULL, becomes the
 * figure. */
enum objective_state objective_judge(const struct objective *objective,
                                     const struct measured *measured, double *value);

/* The first objective that does not hold, with what was measured instead: "p99<50ms is
 * MISSED: 61.2 ms", "p99<50ms is not judged: nothing was measured".  NULL: all hold, and
 * `says` (OBJECTIVE_SAYS_MAX bytes, or NULL) is "". */
const struct objective *objectives_first_missed(const struct objectives *objectives,
                                                const struct measured *measured, char *says);

/* The figure in its unit: "61.2 ms", "0.3 %", "436". */
void objective_value_text(const struct objective *objective, double value,
                          char out[OBJECTIVE_VALUE_MAX]);

/* Print a line for each objective with what was measured, those that do not hold first. */
void objectives_print(FILE *out, const struct objectives *objectives,
                      const struct measured *measured);

/* An array with an object for each: what was measured, and whether it holds.  The caller owns
 * it. */
json_t *objectives_json(const struct objectives *objectives, const struct measured *measured);

/* Write objectives_json() to the file `path`, for the report.  Without objectives no file is
 * written.  False: the reason is on stderr. */
bool objectives_write(const char *path, const struct objectives *objectives,
                      const struct measured *measured);

/* The exit status of a run whose audit ended with `audited`.  `hold`: all objectives hold.
 * `found_others`: the audit found something wrong that no objective is about.  EXIT_THRESHOLD: an
 * objective does not hold, and the audit found nothing wrong, or only findings that an objective
 * is about.  An unknown finding is not found wrong. */
enum exit_code objectives_exit(bool hold, enum exit_code audited, bool found_others);

#endif /* LOADTEST_OBJECTIVE_OBJECTIVE_H */
