/* SPDX-License-Identifier: MIT */
/* judge.h -- computes the outcome of a performance. */
#ifndef LOADTEST_SCENARIO_JUDGE_H
#define LOADTEST_SCENARIO_JUDGE_H

#include "loadtest/scenario/stage.h"

/* Compute the outcome from the history, the database and the signs of play(). */
void stage_judge(struct stage *s);

#endif /* LOADTEST_SCENARIO_JUDGE_H */
