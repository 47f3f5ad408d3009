/* SPDX-License-Identifier: MIT */
/* reentry.c -- a holder that asks again gets the next level, with the same fence, and
 * is never refused.  A lock that does not do that refuses its own holder. */
#include "loadtest/check/checks/checks.h"

static void look_at_grant(struct check *c, const struct hold *hold)
{
    int64_t end_ns = hold->kept_ns > hold->granted_ns
                         ? least(hold->earlier_ns, hold->kept_ns)
                         : hold->earlier_ns;

    if (hold->flaws & FLAW_AGAIN)
        check_violation(c, CHECK_reentry, DLOCK_ASSUMES_LOCK, hold->earlier, hold->call,
                        c->h->calls[hold->earlier].invoke_ns, end_ns,
                        "the lock was granted anew to the owner who had it");
}

static void look_at_refusals(struct check *c)
{
    for (size_t i = 0; i < c->lock.refusal_count; i++) {
        const struct refusal *refusal = &c->lock.refusals[i];
        const struct history_call *call = &c->h->calls[refusal->call];

        if (refusal->is_own)
            check_violation(c, CHECK_reentry, DLOCK_ASSUMES_LOCK, refusal->call,
                            NO_CALL, call->invoke_ns, call->answer_ns,
                            "refused to the owner who held it");
    }
}

static void look_at_grants(struct check *c)
{
    for (size_t i = 0; i < c->lock.hold_count; i++) {
        const struct hold *hold = &c->lock.holds[i];
        const struct history_call *call;

        look_at_grant(c, hold);
        if (!(hold->flaws & (FLAW_LEVEL | FLAW_FENCE)))
            continue;
        call = &c->h->calls[hold->flawed_by];
        check_violation(c, CHECK_reentry, DLOCK_ASSUMES_LOCK, hold->call,
                        hold->flawed_by, hold->invoke_ns, call->answer_ns,
                        hold->flaws & FLAW_FENCE
                            ? "another level of the same hold has another fence"
                            : "the level granted is not the next one");
    }
}

void check_reentry(struct check *c)
{
    c->out->findings[CHECK_reentry].looked += (int64_t)c->lock.hold_count;
    if (c->lock.flaws & (FLAW_AGAIN | FLAW_LEVEL | FLAW_FENCE))
        look_at_grants(c);
    look_at_refusals(c);
}
