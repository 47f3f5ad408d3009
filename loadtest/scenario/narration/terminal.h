/* SPDX-License-Identifier: MIT */
/* terminal.h -- a performance on a terminal. */
#ifndef LOADTEST_SCENARIO_NARRATION_TERMINAL_H
#define LOADTEST_SCENARIO_NARRATION_TERMINAL_H

#include "loadtest/scenario/stage.h"

void tell_opening(FILE *out, const struct stage *s);
void tell_line(FILE *out, const struct stage *s, const struct stage_line *line);
/* The findings, the counts and the verdict; tell_ending() draws who held the lock first. */
void tell_outcome(FILE *out, const struct stage *s);
void tell_ending(FILE *out, const struct stage *s);

#endif /* LOADTEST_SCENARIO_NARRATION_TERMINAL_H */
