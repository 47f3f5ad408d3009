/* SPDX-License-Identifier: MIT */
/* measure.h -- scenarios that are measured: their duration, their random numbers, and the count of
 * lost updates. */
#ifndef LOADTEST_SCENARIO_MEASURE_H
#define LOADTEST_SCENARIO_MEASURE_H

#include "loadtest/scenario/stage.h"

/* Set the duration (0: that of the scenario), and the first states of the streams of
 * stage_draw(). */
void stage_begin_measuring(struct stage *s, int64_t duration_ms, uint64_t seed);

/* Count the lost updates, after the history and the rows were read.  False: the count is not
 * possible, and result->why has the reason. */
bool stage_count_updates(struct stage *s);

/* The bounds between which the true share lies, in percent, with a probability of 95 %:
 * `part` of `whole` were seen (Wilson's score interval). */
void scenario_interval(int64_t part, int64_t whole, double *low, double *high);

#endif /* LOADTEST_SCENARIO_MEASURE_H */
