/* SPDX-License-Identifier: MIT */
/* measure.h -- scenarios that are measured: their length, their chance, and what became of the
 * updates. */
#ifndef LOADTEST_SCENARIO_MEASURE_H
#define LOADTEST_SCENARIO_MEASURE_H

#include "loadtest/scenario/stage.h"

/* Set the length (0: the scenario's), and begin the streams of stage_draw(). */
void stage_begin_measuring(struct stage *s, int64_t duration_ms, uint64_t seed);

/* After the history and the rows are read: what became of the updates.  False: nobody
 * can tell, and result->why says the reason. */
bool stage_count_updates(struct stage *s);

/* The bounds between which the true share lies, in percent, with a probability of 95 %:
 * `part` of `whole` were seen (Wilson's score interval). */
void scenario_interval(int64_t part, int64_t whole, double *low, double *high);

#endif /* LOADTEST_SCENARIO_MEASURE_H */
