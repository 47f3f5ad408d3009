/* SPDX-License-Identifier: MIT */
/* kept.c -- no owner gets an answer that its lock is lost before the end of its lease. */
#include "loadtest/check/checks/checks.h"

void check_kept(struct check *c)
{
    c->out->findings[CHECK_kept].looked += (int64_t)c->lock.hold_count;
    if (!c->lock.has_losses)
        return;
    for (size_t i = 0; i < c->lock.hold_count; i++) {
        struct hold *hold = &c->lock.holds[i];

        if (hold->lost_ns == HISTORY_NEVER || hold->kept_ns < hold->lost_ns ||
            (hold->kept_ns == hold->lost_ns && !hold->is_session &&
             !(hold->flaws & (FLAW_FOUND | FLAW_EITHER))))
            continue;
        if (hold->kept_ns == hold->lost_ns && !(hold->flaws & FLAW_FOUND) &&
            (hold->flaws & FLAW_EITHER)) {
            check_tied(c, CHECK_kept);
            continue;
        }
        check_violation(c, CHECK_kept,
                        check_explain(c, hold, check_sent_ns(&c->h->calls[hold->call]),
                                      hold->lost_ns, true),
                        hold->call, hold->flawed_by, hold->invoke_ns, hold->lost_ns,
                        "lost although its lease had not ended");
        hold->kept_ns = hold->lost_ns;
    }
}
