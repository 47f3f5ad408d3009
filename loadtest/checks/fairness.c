/* SPDX-License-Identifier: MIT */
/* fairness.c -- who asked after another had begun to wait is served after it.
 *
 * A waiter is in the queue once its first refusal is recorded.  Who asks earlier than
 * that may have come first. */
#include <stdlib.h>

#include "loadtest/checks/checks.h"

/* When the owner of this hold was in the queue for sure; HISTORY_NEVER: it never
 * waited. */
static int64_t queued_ns(const struct check *c, const struct hold *hold)
{
    size_t low = 0, high = c->h->mark_count;

    while (low < high) {
        size_t middle = (low + high) / 2;

        if (c->h->marks[middle].at_ns < hold->invoke_ns)
            low = middle + 1;
        else
            high = middle;
    }
    for (; low < c->h->mark_count && c->h->marks[low].at_ns <= hold->granted_ns;
         low++) {
        const struct history_mark *mark = &c->h->marks[low];

        if (mark->kind == DLOCK_EVENT_WAIT && mark->name == hold->name &&
            mark->process == hold->process && mark->owner == hold->owner)
            return mark->at_ns;
    }
    return HISTORY_NEVER;
}

void check_fairness(struct check *c)
{
    const struct hold *first = NULL; /* to wait, of all that were served later */
    int64_t first_ns = HISTORY_NEVER;

    for (size_t i = c->lock.hold_count; i-- > 0;) {
        const struct hold *hold = &c->lock.holds[i];
        int64_t at_ns = queued_ns(c, hold);

        c->out->findings[CHECK_fairness].looked++;
        if (first != NULL && first_ns < hold->invoke_ns)
            check_violation(c, CHECK_fairness,
                            check_explain(c, first, first->invoke_ns, hold->granted_ns,
                                          true),
                            first->call, hold->call, first_ns, first->granted_ns,
                            "waited, and one that came later was served first");
        if (at_ns < first_ns) {
            first_ns = at_ns;
            first = hold;
        }
    }
}
