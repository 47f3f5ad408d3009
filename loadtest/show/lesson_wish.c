/* SPDX-License-Identifier: MIT */
/* lesson_wish.c -- the POST requests of the lessons. */
#include "loadtest/show/lesson_wish.h"

static const char *read_number(const json_t *body, struct show_wish *wish)
{
    const json_t *number = json_object_get(body, "number");

    if (!json_is_integer(number) || json_integer_value(number) < 0 ||
        json_integer_value(number) > lesson_count())
        return "number has to be that of a lesson, or 0 for none";
    wish->lesson = (int)json_integer_value(number);
    return NULL;
}

static const char *read_answer(const json_t *body, struct show_wish *wish)
{
    const char *answer = json_string_value(json_object_get(body, "answer"));

    wish->answer = answer ? lesson_outcome_find(answer) : LESSON_UNCLEAR;
    return wish->answer == LESSON_UNCLEAR ? "answer has to be an answer of the lesson" : NULL;
}

const char *lesson_wish_read(const json_t *body, struct show_wish *wish)
{
    if (wish->kind == SHOW_WISH_LESSON)
        return read_number(body, wish);
    return wish->kind == SHOW_WISH_PREDICT ? read_answer(body, wish) : NULL;
}

struct show_refusal lesson_wish_refuses(const struct lesson_progress *progress,
                                        const struct show_wish *wish)
{
    static const struct show_refusal none = {"no lesson is shown", "lesson-none"},
                                     locked = {"the prediction is locked", "lesson-locked"},
                                     no_answer = {"the lesson has no such answer",
                                                  "lesson-no-answer"},
                                     unpredicted = {"give a prediction first",
                                                    "lesson-unpredicted"},
                                     runs = {"the lesson runs already", "lesson-runs"},
                                     not = {NULL, NULL};
    const struct lesson *lesson = lesson_progress_lesson(progress);

    if (wish->kind != SHOW_WISH_PREDICT && wish->kind != SHOW_WISH_LESSON_RUN)
        return not;
    if (!lesson)
        return none;
    if (wish->kind == SHOW_WISH_PREDICT)
        return progress->stage != LESSON_STAGE_ASKED         ? locked
               : !lesson_has_answer(lesson, wish->answer) ? no_answer
                                                          : not;
    return progress->stage == LESSON_STAGE_ASKED     ? unpredicted
           : progress->stage == LESSON_STAGE_RUNNING ? runs
                                                     : not;
}
