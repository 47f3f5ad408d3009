/* SPDX-License-Identifier: MIT */
/* outcome.c -- looks outcomes up in the one list. */
#include "app/outcome.h"

static const struct outcome_info OUTCOMES[] = {
#define OUTCOME(id, name, status, course_status, title, course_message)                \
    {name, status, course_status, title, course_message},
#include "app/outcome.def"
#undef OUTCOME
};

const struct outcome_info *outcome_info(enum outcome outcome)
{
    return &OUTCOMES[outcome];
}

bool outcome_is_failure(enum outcome outcome)
{
    return OUTCOMES[outcome].status >= 500;
}

bool outcome_is_passing(enum outcome outcome)
{
    return OUTCOMES[outcome].status == 503 || OUTCOMES[outcome].status == 429 ||
           outcome == OUTCOME_LOCK_BUSY;
}
