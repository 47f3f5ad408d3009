/* SPDX-License-Identifier: MIT */
/* renew.c -- renewing a lease. */
#include "lock/lease.h"

#include <assert.h>

#include "base/os/clock.h"
#include "base/os/thread.h"
#include "lock/era.h"
#include "lock/recording.h"
#include "lock/status.h"

/* The root of the caller's lease, or NULL with the reason in *st. */
static struct dlock_hold *find_root(dlock_system *sys, const dlock_lease *lease,
                                    dlock_status *st)
{
    struct dlock_hold *root = NULL;

    *st = dlock_system_check(sys);
    if (*st != DLOCK_OK)
        return NULL;
    if (lease != NULL)
        root = dlock_holds_find(sys->holds, lease->hold);
    if (root == NULL)
        *st = dlock_lease_refuse();
    return root;
}

void dlock_renew_claims(dlock_system *sys, bool together, const dlock_claim *claims, size_t count,
                        dlock_status *statuses)
{
    struct dlock_spent before = dlock_spent_here();
    uint64_t calls[DLOCK_RENEW_ALL_MAX];
    int64_t sent_ns;

    assert(together ? count <= DLOCK_RENEW_ALL_MAX : count == 1);
    for (size_t i = 0; i < count; i++)
        calls[i] = dlock_recording_begin(sys, DLOCK_EVENT_RENEW, &claims[i], 0, 0);
    sent_ns = dlock_clock_ns();
    if (!together)
        statuses[0] = sys->variant->renew(sys->state, &claims[0]);
    else
        sys->variant->renew_all(sys->state, claims, count, statuses);
    for (size_t i = 0; i < count; i++) {
        bool is_ok = statuses[i] == DLOCK_OK;

        dlock_recording_end(sys, calls[i], statuses[i], &claims[i], sent_ns, is_ok, 0);
        dlock_metrics_add(&sys->metrics,
                          is_ok ? DLOCK_METRIC_renewals : DLOCK_METRIC_renewals_failed, 1);
    }
    dlock_metrics_spent(&sys->metrics, DLOCK_METRIC_other_commands, &before);
}

dlock_status dlock_renew(dlock_system *sys, dlock_lease *lease)
{
    DLOCK_PUT_OFF_CANCEL;
    struct dlock_hold *root;
    dlock_claim claim;
    int64_t deadline_ns;
    int64_t sent_ns;
    dlock_status st;

    dlock_error_clear();
    root = find_root(sys, lease, &st);
    if (root == NULL)
        return st;
    if (sys->variant->renew == NULL)
        return dlock_fail(DLOCK_UNSUPPORTED, "%s cannot renew a lease",
                          sys->variant->info.name);
    (void)dlock_era_look(sys);
    if (!dlock_holds_is_held(sys->holds, root, root->serial))
        return DLOCK_LOST;
    claim = dlock_claim_of(sys, &root->facts, 1);
    sent_ns = dlock_clock_ns();
    dlock_renew_claims(sys, false, &claim, 1, &st);
    deadline_ns = dlock_lease_end_ns(sys, claim.lease_ms, sent_ns);
    if (st == DLOCK_OK && deadline_ns <= dlock_clock_ns())
        st = DLOCK_LOST;
    if (st == DLOCK_LOST)
        dlock_holds_lose(sys->holds, root, root->serial, false);
    if (st != DLOCK_OK)
        return st;
    (void)dlock_era_look(sys);
    if (!dlock_holds_renewed(sys->holds, root, root->serial, deadline_ns,
                             dlock_renew_due_ns(sys, claim.lease_ms, sent_ns)))
        return DLOCK_LOST; /* the watchdog has found the loss meanwhile */
    lease->deadline_ns = deadline_ns;
    return DLOCK_OK;
}
