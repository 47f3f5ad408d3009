/* SPDX-License-Identifier: MIT */
/* outcome.h -- the outcomes of requests; the one list is outcome.def. */
#ifndef APP_OUTCOME_H
#define APP_OUTCOME_H

#include <stdbool.h>

enum outcome {
#define OUTCOME(id, name, status, course_status, title, course_message) OUTCOME_##id,
#include "app/outcome.def"
#undef OUTCOME
    OUTCOME_COUNT
};

struct outcome_info {
    const char *name;
    int status;
    int course_status;
    const char *title;
    const char *course_message;
};

/* The entry of an outcome in the list.  Static. */
const struct outcome_info *outcome_info(enum outcome outcome);

/* Did the service fail the client?  Then the status is a 5xx on both faces. */
bool outcome_is_failure(enum outcome outcome);

/* Can the same request succeed in a moment?  Such answers have a Retry-After. */
bool outcome_is_passing(enum outcome outcome);

#endif /* APP_OUTCOME_H */
