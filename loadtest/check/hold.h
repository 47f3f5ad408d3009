/* SPDX-License-Identifier: MIT */
/* hold.h -- one hold, while the calls of its owner are put together. */
#ifndef LOADTEST_CHECK_HOLD_H
#define LOADTEST_CHECK_HOLD_H

#include "loadtest/check/checks/checks.h"

/* The hold that an acquire began. */
struct hold hold_begin(const struct check *c, const struct history_call *call);

/* Has the hold a level that is not released yet?  NULL: no. */
bool hold_is_open(const struct hold *hold);

/* The store surely knew the hold at `at_ns`. */
void hold_see(struct hold *hold, int64_t at_ns);

/* The call, a further level or a renewal, set the lease anew. */
void hold_promise(struct hold *hold, const struct history_call *call);

/* The call may have set the lease anew, at any time until its answer. */
void hold_doubt(const struct check *c, struct hold *hold, const struct history_call *call);

/* The call was told that the hold is lost. */
void hold_lose(const struct check *c, struct hold *hold, const struct history_call *call);

/* A level was granted, which may show that releases without an answer did not happen.
 * NULL is fine. */
void hold_take_back_releases(struct hold *hold, int level);

/* A renewal or a release found the hold there. */
void hold_find_there(const struct check *c, struct hold *hold,
                     const struct history_call *call);

/* A release found the hold there after its last level had been given back. */
void hold_release_again(const struct check *c, struct hold *hold,
                        const struct history_call *call);

/* Compute the end of the hold.  To be called when all calls of its owner were added. */
void hold_finish(const struct check *c, struct hold *hold);

#endif /* LOADTEST_CHECK_HOLD_H */
