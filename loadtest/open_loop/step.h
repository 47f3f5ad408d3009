/* SPDX-License-Identifier: MIT */
/* step.h -- one step of an open loop: the requests at one rate, and their results. */
#ifndef LOADTEST_OPEN_LOOP_STEP_H
#define LOADTEST_OPEN_LOOP_STEP_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

#include "loadtest/kit/buckets.h"
#include "loadtest/objective/objective.h"
#include "loadtest/open_loop/answers.h"

/* ---- a distribution of durations: exact up to 1,023 us, and then known to two parts in a
 * thousand, see base/os/histogram.h ---- */

enum {
    LATENCY_BITS = 9,
    LATENCY_BUCKETS = 25 << LATENCY_BITS, /* up to 2^33 us, which is over two hours */
};

struct latency {
    int64_t buckets[LATENCY_BUCKETS];
    uint64_t count;
    int64_t max_ns;
    double sum_ns;
};

/* Count one duration; below 0 counts as 0, and what is longer than the last bucket is
 * counted in the last one.  max_ns is exact. */
void latency_add(struct latency *latency, int64_t duration_ns);

/* The duration that `share` (0 to 1) of all did not exceed, in milliseconds, at most
 * two thousandths too long, and never longer than the longest; 0 if there are none. */
double latency_quantile_ms(const struct latency *latency, double share);

/* Add the count of each bucket to that of the few buckets which a live view shows. */
void latency_add_to(const struct latency *latency, int64_t buckets[BUCKETS]);

/* The arithmetic mean in milliseconds; 0 if there are none. */
double latency_mean_ms(const struct latency *latency);

/* ---- a step ---- */

/* Every duration of `latency` begins at the moment when its request was due, also where no
 * connection was free or the generator came late, so that a stall of the service is seen by
 * every request that it delays.  A request that was never answered is in it with the time
 * that it had waited when it was given up. */
struct step_result {
    int64_t rate;         /* asked for, in requests per second                        */
    bool is_ramp;         /* the rate rises from 0 to that one                        */
    int64_t duration_ms;  /* in which they were due                                   */
    int64_t due;          /* requests that the rate makes in that time                */
    int64_t sent;
    int64_t unsent;       /* given up before they were sent: no connection was free   */
    int64_t unanswered;   /* sent, and the connection broke or the time was over      */
    int64_t queued;       /* found no free connection when they were due              */
    struct answers answers;
    struct latency latency;  /* of all that were due                                  */
    struct latency accepted; /* of accepted orders alone                              */
    struct latency lag;      /* the generator's own delay, for requests that did not wait for a
                              * connection: from the due time to the sending          */
    double answered_per_s;   /* in the step's own time                                */
    double processor;        /* of one processor, that the generator used: 0 to 1     */
    bool is_cut_short;       /* interrupted                                           */
};

double step_quantile_ms(const struct step_result *step, double share);
double step_max_ms(const struct step_result *step);
/* The share of all requests, of 1, that the service failed or that had no answer. */
double step_failed(const struct step_result *step);

/* Does the step count (step_flaw()), and keep every objective but those of the audit?  `says`
 * is as in objectives_first_missed(). */
bool step_holds(const struct step_result *step, const struct objectives *objectives, char *says);

/* The reason for which the step says nothing of the service: the generator itself fell behind
 * (its lag's p99 is over 1 ms and over a tenth of the latency's p99, or it used a whole
 * processor), or it was interrupted, or the rate rose.  NULL: the step counts. */
const char *step_flaw(const struct step_result *step);

/* Did the service answer less than 95 % of the requests in the step's time? */
bool step_falls_short(const struct step_result *step);

/* Did the service reach the step's rate, and does the step hold the objectives? */
bool step_sustains(const struct step_result *step, const struct objectives *objectives);

/* All of it; the caller owns it. */
json_t *step_json(const struct step_result *step);

#endif /* LOADTEST_OPEN_LOOP_STEP_H */
