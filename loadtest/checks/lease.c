/* SPDX-License-Identifier: MIT */
/* lease.c -- who works on after the lease must not meet the next holder.
 *
 * The lock did as it promised; what the lease stands on did not.  That two worked at
 * the same time is what the orders suffer from all the same. */
#include <assert.h>

#include "loadtest/checks/checks.h"

static bool meets(const struct hold *early, const struct hold *late)
{
    bool is_same = early != NULL && early->process == late->process &&
                   early->owner == late->owner;

    return early != NULL && !is_same && early->kept_ns <= late->granted_ns &&
           early->worked_ns > late->granted_ns && late->worked_ns > late->granted_ns &&
           !(early->mode == DLOCK_MODE_SHARED && late->mode == DLOCK_MODE_SHARED);
}

static int64_t least(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

void check_lease(struct check *c)
{
    const struct hold *longest[2] = {NULL, NULL}; /* by mode */

    for (size_t i = 0; i < c->lock.hold_count; i++) {
        const struct hold *hold = &c->lock.holds[i];
        int own = hold->mode == DLOCK_MODE_SHARED;

        if (hold->flaws & FLAW_NOBODY)
            continue;
        c->out->findings[CHECK_lease].looked++;
        for (int mode = 0; mode < 2; mode++) {
            const struct hold *early = longest[mode];

            if (!meets(early, hold))
                continue;
            assert(early != NULL); /* nobody meets nobody */
            check_violation(c, CHECK_lease,
                            check_explain(c, early, early->invoke_ns,
                                          hold->granted_ns, false),
                            early->call, hold->call, early->invoke_ns,
                            least(early->worked_ns, hold->worked_ns),
                            "worked on after its lease, and another came in");
        }
        if (longest[own] == NULL || hold->worked_ns >= longest[own]->worked_ns)
            longest[own] = hold;
    }
}
