/* SPDX-License-Identifier: MIT */
/* valid.c -- is a lease still valid? */
#include "base/os/clock.h"
#include "base/os/fork.h"
#include "base/os/thread.h"
#include "lock/era.h"
#include "lock/lease.h"

/* Does the session still exist that holds a lock without a deadline?  The watchdog
 * probes it too, but after a stop of the whole process the watchdog's last answer may
 * be out of date. */
static bool is_session_alive(const dlock_system *sys, const dlock_lease *lease)
{
    struct dlock_hold_facts facts;
    dlock_claim claim;

    if (sys->variant->probe == NULL)
        return true;
    if (!dlock_holds_look(sys->holds, lease->hold, &facts))
        return false;
    claim = dlock_claim_of(sys, &facts, 1);
    return sys->variant->probe(sys->state, &claim) == DLOCK_OK;
}

bool dlock_lease_valid(const dlock_system *sys, const dlock_lease *lease)
{
    return dlock_lease_left_ms(sys, lease) > 0;
}

int64_t dlock_lease_left_ms(const dlock_system *sys, const dlock_lease *lease)
{
    DLOCK_PUT_OFF_CANCEL;
    int64_t deadline_ns;
    int64_t left_ns;

    if (sys == NULL || lease == NULL || sys->generation != dlock_fork_generation())
        return 0;
    (void)dlock_era_look(sys);
    deadline_ns = dlock_holds_deadline_ns(sys->holds, lease->hold);
    if (deadline_ns == INT64_MAX)
        return is_session_alive(sys, lease) ? INT64_MAX : 0;
    left_ns = deadline_ns - dlock_clock_ns();
    return left_ns > 0 ? (left_ns + DLOCK_NS_PER_MS - 1) / DLOCK_NS_PER_MS : 0;
}
