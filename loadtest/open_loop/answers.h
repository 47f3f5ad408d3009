/* SPDX-License-Identifier: MIT */
/* answers.h -- the answers to requests: one count for each outcome of the service. */
#ifndef LOADTEST_OPEN_LOOP_ANSWERS_H
#define LOADTEST_OPEN_LOOP_ANSWERS_H

#include <stdbool.h>
#include <stdint.h>

#include <jansson.h>

/* The outcomes of app/outcome.def, and an answer that names none of them. */
enum answer_kind {
#define OUTCOME(id, name, status, course_status, title, course_message) ANSWER_##id,
#include "app/outcome.def"
#undef OUTCOME
    ANSWER_OTHER,
    ANSWER_KINDS
};

struct answers {
    int64_t counts[ANSWER_KINDS];
};

/* The kind that X-Outcome names. */
enum answer_kind answer_kind_of(const char *outcome);

/* X-Outcome's name of a kind; "other" for ANSWER_OTHER. */
const char *answer_name(enum answer_kind kind);

/* Did the service fail the client: an answer that says "try again later" (429) or "an error
 * here" (500 and above, by the status of the /api/v1 face), or one of no known outcome?
 * A refusal for reasons of the sale is no failure. */
bool answer_is_failure(enum answer_kind kind);

/* Does the answer name an order, which has its row (accepted) or is promised one (queued)?  Both
 * count as accepted. */
bool answer_is_accepted(enum answer_kind kind);

/* May there be an order although the answer does not say so? */
bool answer_is_unsure(enum answer_kind kind);

int64_t answers_total(const struct answers *answers);
int64_t answers_failed(const struct answers *answers);
int64_t answers_accepted(const struct answers *answers);

/* {"accepted": 12, ...} of those that came; the caller owns it. */
json_t *answers_json(const struct answers *answers);

#endif /* LOADTEST_OPEN_LOOP_ANSWERS_H */
