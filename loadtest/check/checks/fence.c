/* SPDX-License-Identifier: MIT */
/* fence.c -- every new holder has a greater fence than all before it.
 *
 * Whoever heard late of its grant may have had it since it asked: what the store lost from
 * then on explains it.  If its lease was over by then, or if both only read, nothing but its
 * asking says which of the two was granted first. */
#include <inttypes.h>

#include "loadtest/check/checks/checks.h"

static int explain(struct check *c, const struct hold *highest,
                   const struct hold *hold)
{
    int64_t from_ns =
        hold->invoke_ns < highest->invoke_ns ? hold->invoke_ns : highest->invoke_ns;

    return check_explain(c, highest, from_ns, hold->granted_ns, true);
}

/* Was `hold` granted by the store after `highest`? */
static enum check_order order_of(const struct hold *highest, const struct hold *hold)
{
    bool is_beside = highest->mode == DLOCK_MODE_SHARED && hold->mode == DLOCK_MODE_SHARED;

    if (is_beside || check_is_heard_late(hold))
        return check_order(highest->granted_ns, hold->invoke_ns);
    return check_order(highest->granted_ns, hold->granted_ns);
}

/* Its fence is not above the highest before it. */
static void compare(struct check *c, const struct hold *highest, const struct hold *hold)
{
    enum check_order order = order_of(highest, hold);

    if (order == CHECK_BEFORE || hold->fence == highest->fence)
        check_violation(c, CHECK_fence, explain(c, highest, hold), highest->call,
                        hold->call, highest->invoke_ns, hold->granted_ns,
                        "fence %" PRIu64 " was given out after %" PRIu64, hold->fence,
                        highest->fence);
    else if (order == CHECK_TIED)
        check_unsure(c, CHECK_fence, check_tie);
}

void check_fence(struct check *c)
{
    const struct hold *highest = NULL;

    for (size_t i = 0; i < c->lock.hold_count; i++) {
        const struct hold *hold = &c->lock.holds[i];

        if (hold->flaws & FLAW_NOBODY)
            continue;
        c->out->findings[CHECK_fence].looked++;
        if (hold->fence == 0)
            check_violation(c, CHECK_fence, DLOCK_ASSUMES_LOCK, hold->call, NO_CALL,
                            hold->invoke_ns, hold->granted_ns,
                            "granted without a fence");
        else if (highest != NULL && hold->fence <= highest->fence)
            compare(c, highest, hold);
        if (highest == NULL || hold->fence > highest->fence)
            highest = hold;
    }
}
