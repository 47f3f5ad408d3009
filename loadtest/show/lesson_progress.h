/* SPDX-License-Identifier: MIT */
/* lesson_progress.h -- the lesson that is shown, its prediction, and its outcome.
 *
 * Threads     One.
 */
#ifndef LOADTEST_SHOW_LESSON_PROGRESS_H
#define LOADTEST_SHOW_LESSON_PROGRESS_H

#include "loadtest/show/lesson_script.h"

/* X(id, "name in the JSON") */
#define LESSON_STAGES(X)                                                               \
    X(ASKED, "asked")         /* there is no prediction yet                          */ \
    X(PREDICTED, "predicted") /* the prediction is locked                            */ \
    X(RUNNING, "running")     /* until the outcome is known from the database        */ \
    X(DONE, "done")

enum lesson_stage {
#define X(id, name) LESSON_STAGE_##id,
    LESSON_STAGES(X)
#undef X
};

enum { LESSONS_MAX = 16 };

/* The end of a round. */
struct lesson_result {
    enum lesson_outcome outcome;
    const char *why;  /* of UNCLEAR, as a word that lesson.js has a sentence for; NULL     */
    int64_t sold, issued, left, others, held_ms;
    uint64_t fence, row_fence; /* of the late write; the highest of the row             */
};

struct lesson_progress {
    int number; /* of the lesson; 0: none is shown                                        */
    int round;  /* from 0 on                                                              */
    enum lesson_stage stage;
    struct {
        enum lesson_outcome predicted; /* UNCLEAR: not yet                               */
        struct lesson_result results[LESSON_ROUNDS_MAX];
        int rounds_done; /* of the last run                                              */
        int runs;        /* how often it was begun                                       */
    } of[LESSONS_MAX + 1]; /* by the number of the lesson                                */
};

/* Show this lesson, with its earlier prediction and outcome, if any.  0: show no lesson. */
void lesson_progress_show(struct lesson_progress *progress, int number);

/* The lesson that is shown; NULL: none. */
const struct lesson *lesson_progress_lesson(const struct lesson_progress *progress);

/* Lock the prediction.  False: one is locked already, or the lesson has no such answer. */
bool lesson_progress_predict(struct lesson_progress *progress, enum lesson_outcome outcome);

/* The lesson is begun, or repeated, from its first round on. */
void lesson_progress_begin(struct lesson_progress *progress);

/* Judge the outcome of the round.  To be called when the sale is over and no transaction of it is
 * open in the database.  True: the progress is now in the next round, which the caller has to
 * begin. */
bool lesson_progress_judge(struct lesson_progress *progress, const struct lesson_script *script);

/* As the JSON of GET /api/state; the caller owns it. */
json_t *lesson_progress_json(const struct lesson_progress *progress);

#endif /* LOADTEST_SHOW_LESSON_PROGRESS_H */
