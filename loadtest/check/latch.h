/* SPDX-License-Identifier: MIT */
/* latch.h -- what the files about latches share. */
#ifndef LOADTEST_CHECK_LATCH_H
#define LOADTEST_CHECK_LATCH_H

#include "loadtest/check/checks/checks.h"

/* A latch that was made: from the call that made it to the next such call, or the end. */
struct latch {
    int64_t set;       /* the call                                                */
    int64_t open_ns;   /* maybe, from then on                                     */
    int64_t opener;    /* the call that was made then; NO_CALL                    */
    int64_t opened;    /* surely, from the answer of this call on; NO_CALL        */
    int64_t next;      /* the next making; NO_CALL                                */
    int64_t next_ns;   /* when it was asked for; HISTORY_NEVER                    */
    size_t from;       /* no call before this one, of the lock's, was answered
                        * later than the latch was made                           */
};

/* Did the call have its effect, if any, before the making?  Without an answer it may have it
 * later. */
bool latch_was_over(const struct check *c, const struct history_call *call,
                    const struct history_call *set);

/* Say that the call is a violation. */
void latch_report(struct check *c, const struct latch *l, int64_t index, const char *what);

/* Each count leaves what the counts before it can have left. */
void latch_look_at_counts(struct check *c, const struct latch *l);

#endif /* LOADTEST_CHECK_LATCH_H */
