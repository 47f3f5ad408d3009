/* SPDX-License-Identifier: MIT */
/* fence.c -- every new holder has a greater fence than all before it.
 *
 * Whoever heard late of its grant may have had it since it asked: what the store lost from
 * then on explains it. */
#include <inttypes.h>

#include "loadtest/checks/checks.h"

static int explain(const struct check *c, const struct hold *highest,
                   const struct hold *hold)
{
    int64_t from_ns =
        hold->invoke_ns < highest->invoke_ns ? hold->invoke_ns : highest->invoke_ns;

    return check_explain(c, highest, from_ns, hold->granted_ns, true);
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
            check_violation(c, CHECK_fence, explain(c, highest, hold), highest->call,
                            hold->call, highest->invoke_ns, hold->granted_ns,
                            "fence %" PRIu64 " was given out after %" PRIu64,
                            hold->fence, highest->fence);
        if (highest == NULL || hold->fence > highest->fence)
            highest = hold;
    }
}
