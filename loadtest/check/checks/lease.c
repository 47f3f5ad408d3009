/* SPDX-License-Identifier: MIT */
/* lease.c -- a holder that works on after its lease does not meet the next holder.
 *
 * The lock kept its promise; an assumption of the lease gave way.  Orders suffer all the
 * same if two holders work at the same time. */
#include "loadtest/check/checks/latest.h"

/* Report that `early` worked on when `late` had the lock; or that `late` got its grant after its
 * own lease had ended, and worked beside `early`. */
static void report(struct check *c, const struct hold *early, const struct hold *late)
{
    const struct hold *over = check_is_heard_late(late) ? late : early;

    check_violation(c, CHECK_lease,
                    check_explain(c, over, over->invoke_ns, late->granted_ns, false),
                    early->call, late->call, early->invoke_ns,
                    least(early->worked_ns, late->worked_ns),
                    "worked on after its lease, and another came in");
}

static void compare(struct check *c, const struct latest_of *of, const struct hold *late)
{
    const struct hold *early = of->hold;
    enum check_order order;

    if (!of->is_there || latest_is_of(of, late->process, late->owner))
        return;
    /* An owner that heard of its grant after the lease meets others by working all the same. */
    if (check_is_heard_late(late) ? late->worked_ns <= late->granted_ns
                                  : early->kept_ns > late->granted_ns)
        return;
    order = check_order(late->granted_ns, early->worked_ns);
    if (order == CHECK_BEFORE)
        report(c, early, late);
    else if (order == CHECK_TIED && early->worked_ns > early->kept_ns)
        check_tied(c, CHECK_lease);
}

void check_lease(struct check *c)
{
    struct latest worked[2] = {0}; /* by mode: those that worked longest */

    for (size_t i = 0; i < c->lock.hold_count; i++) {
        const struct hold *hold = &c->lock.holds[i];

        if (hold->flaws & FLAW_NOBODY)
            continue;
        c->out->findings[CHECK_lease].looked++;
        for (int mode = 0; mode < 2; mode++) {
            if (mode == DLOCK_MODE_SHARED && hold->mode == DLOCK_MODE_SHARED)
                continue;
            compare(c, &worked[mode].best, hold);
            compare(c, &worked[mode].second, hold);
        }
        latest_see_hold(&worked[hold->mode], hold, hold->worked_ns);
    }
}
