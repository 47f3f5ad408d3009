/* SPDX-License-Identifier: MIT */
/* latch.c -- whether a call on a latch was over, and how a violation of a latch is reported. */
#include "loadtest/check/latch.h"

bool latch_was_over(const struct check *c, const struct history_call *call,
                     const struct history_call *set)
{
    return !check_is_open(c, call) && check_order_calls(call, set) == CHECK_BEFORE;
}

void latch_report(struct check *c, const struct latch *l, int64_t index, const char *what)
{
    const struct history_call *call = &c->h->calls[index];

    check_violation(c, CHECK_latch, DLOCK_ASSUMES_LOCK, l->set, index,
                    c->h->calls[l->set].invoke_ns, call->answer_ns, "%s", what);
}
