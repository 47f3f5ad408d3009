/* SPDX-License-Identifier: MIT */
/* fence.c -- every new holder has a greater fence than all before it. */
#include <inttypes.h>

#include "loadtest/checks/checks.h"

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
            check_violation(c, CHECK_fence,
                            check_explain(c, highest, highest->invoke_ns,
                                          hold->granted_ns, true),
                            highest->call, hold->call, highest->invoke_ns,
                            hold->granted_ns,
                            "fence %" PRIu64 " was given out after %" PRIu64,
                            hold->fence, highest->fence);
        if (highest == NULL || hold->fence > highest->fence)
            highest = hold;
    }
}
