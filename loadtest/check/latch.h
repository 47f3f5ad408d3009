/* SPDX-License-Identifier: MIT */
/* latch.h -- the common part of the files about latches. */
#ifndef LOADTEST_CHECK_LATCH_H
#define LOADTEST_CHECK_LATCH_H

#include "loadtest/check/checks/checks.h"

/* A latch that was made: from the call that made it to the next such call, or the end. */
struct latch {
    int64_t set;       /* the call that made the latch                            */
    int64_t open_ns;   /* from then on the latch may be open                      */
    int64_t opener;    /* the call that was made at open_ns; NO_CALL              */
    int64_t opened;    /* from the answer to this call on the latch certainly is open; NO_CALL */
    int64_t next;      /* the next call that made the latch; NO_CALL              */
    int64_t next_ns;   /* the time of that call; HISTORY_NEVER                    */
    size_t from;       /* all calls of the latch before this one were answered before
                        * the latch was made                                      */
};

/* Was the call answered before the latch was made by `set`?  A call without an answer may take
 * effect later. */
bool latch_was_over(const struct check *c, const struct history_call *call,
                    const struct history_call *set);

/* Say that the call is a violation. */
void latch_report(struct check *c, const struct latch *l, int64_t index, const char *what);

/* Check that each count left a number that is possible after the counts before it. */
void latch_look_at_counts(struct check *c, const struct latch *l);

#endif /* LOADTEST_CHECK_LATCH_H */
