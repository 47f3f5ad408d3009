/* SPDX-License-Identifier: MIT */
/* lease.c -- the arithmetic of a lease, a hold as a claim and as a lease, and whether a lease is
 * still valid. */
#include "lock/lease.h"

#include <string.h>

#include "base/os/clock.h"
#include "base/os/fork.h"
#include "base/os/thread.h"
#include "lock/era.h"
#include "lock/status.h"

/* DRIFT_FLOOR_MS is taken off every lease in addition to the variant's drift_per_mille,
 * because Redis and this library count leases in whole milliseconds. */
enum { DRIFT_FLOOR_MS = 2, RENEWALS_PER_LEASE = 3, PROBE_EVERY_MS = 100 };

int64_t dlock_lease_end_ns(const dlock_system *sys, int lease_ms, int64_t sent_ns)
{
    int64_t lease_ns = lease_ms * DLOCK_NS_PER_MS;
    int64_t drift_ns = lease_ns / 1000 * sys->variant->drift_per_mille +
                       DRIFT_FLOOR_MS * DLOCK_NS_PER_MS;

    if (!(sys->variant->info.caps & DLOCK_CAP_EXPIRES))
        return INT64_MAX;
    return sent_ns + lease_ns - drift_ns;
}

int64_t dlock_renew_due_ns(const dlock_system *sys, int lease_ms, int64_t sent_ns)
{
    if (sys->variant->probe != NULL)
        return sent_ns + PROBE_EVERY_MS * DLOCK_NS_PER_MS;
    return sent_ns + lease_ms * DLOCK_NS_PER_MS / RENEWALS_PER_LEASE;
}

dlock_claim dlock_claim_of(const dlock_system *sys,
                           const struct dlock_hold_facts *facts, int level)
{
    dlock_claim claim = {
        .name = facts->key.name,
        .uuid = sys->uuid,
        .number = facts->number,
        .owner = facts->owner,
        .token = facts->token,
        .lease_ms = facts->lease_ms,
        .shared = facts->key.shared != 0,
        .level = level,
        .give_up_ns = INT64_MAX,
        .free_in_ms = -1,
        .note = facts->note,
    };

    return claim;
}

void dlock_lease_fill(dlock_lease *lease, const dlock_claim *claim,
                      int64_t deadline_ns, uint64_t id)
{
    strcpy(lease->name, claim->name);
    strcpy(lease->owner, claim->owner);
    strcpy(lease->token, claim->token);
    lease->fence = claim->fence;
    lease->deadline_ns = deadline_ns;
    lease->hold = id;
    lease->shared = claim->shared;
    memset(lease->reserved, 0, sizeof(lease->reserved));
}

dlock_status dlock_lease_refuse(void)
{
    return dlock_fail(DLOCK_INVALID, "the lease was never granted, is released, or is "
                                     "another thread's");
}

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
