/* SPDX-License-Identifier: MIT */
/* ownership.c -- only a holder can release or renew. exclusion.c finds the other half of
 * this property: that no other owner had the lock meanwhile. */
#include "loadtest/check/checks/checks.h"

void check_ownership(struct check *c)
{
    c->out->findings[CHECK_ownership].looked += (int64_t)c->lock.hold_count;
    if (!(c->lock.flaws & (FLAW_TIED | FLAW_ZOMBIE | FLAW_NOBODY)))
        return;
    for (size_t i = 0; i < c->lock.hold_count; i++) {
        const struct hold *hold = &c->lock.holds[i];
        const struct history_call *call;

        if (hold->flaws & FLAW_TIED)
            check_tied(c, CHECK_ownership);
        if (!(hold->flaws & (FLAW_ZOMBIE | FLAW_NOBODY)))
            continue;
        call = &c->h->calls[hold->flawed_by];
        check_violation(c, CHECK_ownership, DLOCK_ASSUMES_LOCK, hold->call,
                        hold->flawed_by, hold->invoke_ns, call->answer_ns,
                        hold->flaws & FLAW_ZOMBIE
                            ? "found there after its release was answered"
                            : "released or renewed by one who was never granted it");
    }
}
