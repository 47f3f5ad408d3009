/* SPDX-License-Identifier: MIT */
/* judge.h -- computes the outcome of a performance. */
#ifndef LOADTEST_SCENARIO_JUDGE_H
#define LOADTEST_SCENARIO_JUDGE_H

#include "loadtest/scenario/stage.h"

/* Compute the outcome from the history, the database and the signs of play(). */
void stage_judge(struct stage *s);

/* The outcome under a scenario that calls these signs breaks. */
enum scenario_outcome judge_outcome(unsigned signs, unsigned breaks);

/* Are the outcome, the signs and the assumption that gave way as expected?  False: r->why has the
 * difference.  Damage in the database is a difference unless a break is expected, also if the
 * scenario does not call that sign a break. */
bool judge_compare(struct scenario_result *r, const struct expectation *e);

#endif /* LOADTEST_SCENARIO_JUDGE_H */
