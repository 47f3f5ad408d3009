/* SPDX-License-Identifier: MIT */
/* lesson_progress.c -- the stages of the lessons, and the judgement of their outcomes.
 *
 * The judgement rests on the database's counts and on what the script saw of the fault.  A
 * fault that was missed makes the outcome unclear, whatever the counts say. */
#include "loadtest/show/lesson_progress.h"

#include "db/guard.h"

static const char *const STAGES[] = {
#define X(id, name) name,
    LESSON_STAGES(X)
#undef X
};

const struct lesson *lesson_progress_lesson(const struct lesson_progress *progress)
{
    return lesson_at(progress->number);
}

void lesson_progress_show(struct lesson_progress *progress, int number)
{
    progress->number = number;
    progress->round = 0;
    progress->stage = progress->of[number].rounds_done > 0 ? LESSON_STAGE_DONE
                      : progress->of[number].predicted     ? LESSON_STAGE_PREDICTED
                                                           : LESSON_STAGE_ASKED;
}

bool lesson_progress_predict(struct lesson_progress *progress, enum lesson_outcome outcome)
{
    const struct lesson *lesson = lesson_progress_lesson(progress);

    if (!lesson || progress->stage != LESSON_STAGE_ASKED || !lesson_has_answer(lesson, outcome))
        return false;
    progress->of[progress->number].predicted = outcome;
    progress->stage = LESSON_STAGE_PREDICTED;
    return true;
}

void lesson_progress_begin(struct lesson_progress *progress)
{
    progress->round = 0;
    progress->of[progress->number].rounds_done = 0;
    progress->of[progress->number].runs++;
    progress->stage = LESSON_STAGE_RUNNING;
}

static void unclear(struct lesson_result *result, const char *why)
{
    result->outcome = LESSON_UNCLEAR;
    result->why = why;
}

/* Did the row refuse the late write?  A later holder has written, and no order is there under
 * the fence of the late one. */
static bool is_refused(const struct lesson_script *script, const struct lesson_result *result)
{
    int64_t orders = 0;

    return result->fence > 0 && result->row_fence > result->fence &&
           tally_under_fence(script->sale->db, script->sale->voucher, result->fence, &orders) &&
           orders == 0;
}

static void judge(const struct lesson *lesson, const struct lesson_script *script,
                  struct lesson_result *result)
{
    bool is_oversold = result->sold > result->issued;
    bool is_sold_out = result->left == 0 && result->sold == result->issued;
    bool has_fence = guard_find(lesson->stock_guard)->needs_fence;

    if (script->missed) {
        unclear(result, script->missed);
    } else if (lesson->fault == LESSON_CRASH) {
        result->outcome = LESSON_NOBODY;
    } else if (is_oversold) {
        result->outcome = lesson->fault == LESSON_DELETE ? LESSON_NEXT : LESSON_OVERSOLD;
    } else if (!is_sold_out) {
        unclear(result, "stopped");
    } else if (lesson->fault == LESSON_CALM || script->stayed_out) {
        result->outcome = LESSON_SOUND;
    } else if (has_fence && is_refused(script, result)) {
        result->outcome = LESSON_DATABASE;
    } else {
        unclear(result, "no-harm");
    }
}

bool lesson_progress_judge(struct lesson_progress *progress, const struct lesson_script *script)
{
    const struct lesson *lesson = lesson_progress_lesson(progress);
    const struct tally *tally = &script->sight->tally;
    struct lesson_result *result = &progress->of[progress->number].results[progress->round];

    *result = (struct lesson_result){.sold = tally->orders,
                                     .issued = tally->issued,
                                     .left = tally->left,
                                     .others = script->others,
                                     .held_ms = script->held_ms,
                                     .fence = script->fence,
                                     .row_fence = tally->fence};
    judge(lesson, script, result);
    progress->of[progress->number].rounds_done = progress->round + 1;
    if (result->outcome == lesson->comes && progress->round + 1 < lesson_rounds(lesson)) {
        progress->round++;
        return true;
    }
    progress->stage = LESSON_STAGE_DONE;
    return false;
}

static json_t *result_json(const struct lesson *lesson, const struct lesson_result *r, int round)
{
    return json_pack("{s:s, s:s, s:o, s:I, s:I, s:I, s:I, s:I, s:I, s:I}", "lock",
                     lesson->locks[round], "outcome", lesson_outcome_name(r->outcome), "why",
                     r->why ? json_string(r->why) : json_null(), "sold", (json_int_t)r->sold,
                     "issued", (json_int_t)r->issued, "left", (json_int_t)r->left, "others",
                     (json_int_t)r->others, "held_ms", (json_int_t)r->held_ms, "fence",
                     (json_int_t)r->fence, "row_fence", (json_int_t)r->row_fence);
}

/* Did all rounds come out as the lesson says?  null: not all of them are over. */
static json_t *came_about_json(const struct lesson_progress *progress)
{
    const struct lesson *lesson = lesson_progress_lesson(progress);
    int done = progress->of[progress->number].rounds_done;

    if (progress->stage != LESSON_STAGE_DONE)
        return json_null();
    for (int i = 0; i < done; i++)
        if (progress->of[progress->number].results[i].outcome != lesson->comes)
            return json_false();
    return json_boolean(done == lesson_rounds(lesson));
}

json_t *lesson_progress_json(const struct lesson_progress *progress)
{
    const struct lesson *lesson = lesson_progress_lesson(progress);
    enum lesson_outcome predicted = progress->of[progress->number].predicted;
    json_t *results = json_array();

    if (!lesson) {
        json_decref(results);
        return json_null();
    }
    for (int i = 0; i < progress->of[progress->number].rounds_done; i++)
        json_array_append_new(
            results, result_json(lesson, &progress->of[progress->number].results[i], i));
    return json_pack("{s:i, s:i, s:s, s:i, s:i, s:i, s:o, s:o, s:o}", "number", progress->number,
                     "count", lesson_count(), "stage", STAGES[progress->stage], "round",
                     progress->round + 1, "rounds", lesson_rounds(lesson), "runs",
                     progress->of[progress->number].runs, "predicted",
                     predicted ? json_string(lesson_outcome_name(predicted)) : json_null(),
                     "results", results, "came_about", came_about_json(progress));
}
