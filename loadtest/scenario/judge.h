/* SPDX-License-Identifier: MIT */
/* judge.h -- from the history and the database to the outcome. */
#ifndef LOADTEST_SCENARIO_JUDGE_H
#define LOADTEST_SCENARIO_JUDGE_H

#include "loadtest/scenario/stage.h"

/* From the history and the database to the outcome. */
void stage_judge(struct stage *s);

#endif /* LOADTEST_SCENARIO_JUDGE_H */
