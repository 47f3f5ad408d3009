/* SPDX-License-Identifier: MIT */
/* answers.c -- the answers to requests: one count for each outcome of the service. */
#include "loadtest/open_loop/answers.h"

#include <string.h>

enum { STATUS_TOO_MANY_REQUESTS = 429, STATUS_INTERNAL_ERROR = 500 };

static const struct kind {
    const char *name;
    int status;
} kinds[ANSWER_KINDS] = {
#define OUTCOME(id, name, status, course_status, title, course_message) {name, status},
#include "app/outcome.def"
#undef OUTCOME
    {"other", STATUS_INTERNAL_ERROR},
};

enum answer_kind answer_kind_of(const char *outcome)
{
    for (int i = 0; i < ANSWER_OTHER; i++)
        if (strcmp(outcome, kinds[i].name) == 0)
            return (enum answer_kind)i;
    return ANSWER_OTHER;
}

const char *answer_name(enum answer_kind kind)
{
    return kinds[kind].name;
}

bool answer_is_failure(enum answer_kind kind)
{
    return kinds[kind].status == STATUS_TOO_MANY_REQUESTS ||
           kinds[kind].status >= STATUS_INTERNAL_ERROR;
}

bool answer_is_accepted(enum answer_kind kind)
{
    return kind == ANSWER_ACCEPTED || kind == ANSWER_QUEUED;
}

bool answer_is_unsure(enum answer_kind kind)
{
    return kind == ANSWER_UNKNOWN || kind == ANSWER_INTERNAL || kind == ANSWER_OTHER;
}

int64_t answers_total(const struct answers *answers)
{
    int64_t total = 0;

    for (int i = 0; i < ANSWER_KINDS; i++)
        total += answers->counts[i];
    return total;
}

static int64_t sum_of(const struct answers *answers, bool (*is_one)(enum answer_kind))
{
    int64_t sum = 0;

    for (int i = 0; i < ANSWER_KINDS; i++)
        if (is_one((enum answer_kind)i))
            sum += answers->counts[i];
    return sum;
}

int64_t answers_failed(const struct answers *answers)
{
    return sum_of(answers, answer_is_failure);
}

int64_t answers_accepted(const struct answers *answers)
{
    return sum_of(answers, answer_is_accepted);
}

json_t *answers_json(const struct answers *answers)
{
    json_t *json = json_object();

    for (int i = 0; i < ANSWER_KINDS; i++)
        if (answers->counts[i] > 0)
            json_object_set_new(json, kinds[i].name, json_integer(answers->counts[i]));
    return json;
}
