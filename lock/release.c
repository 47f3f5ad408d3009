/* SPDX-License-Identifier: MIT */
/* release.c -- giving a level of a hold back, waiting for the store or not; and leaving a
 * hold to the end of its lease. */
#include "base/os/clock.h"
#include "lock/debts.h"
#include "lock/era.h"
#include "lock/handover.h"
#include "lock/lease.h"
#include "lock/lost.h"
#include "lock/recording.h"
#include "lock/retry.h"
#include "lock/status.h"

/* For how long a release goes on while its store cannot be reached; and for how long where the
 * store may fail over, since the new master would keep what it got by replication until the lease
 * ends. */
enum { RELEASE_PATIENCE_MS = 2000, FAILOVER_PATIENCE_MS = 10000 };

/* A hold is over.  Its root is the calling thread's alone by now. */
static void count_end(dlock_system *sys, const struct dlock_hold *root, dlock_status st,
                      int64_t ended_ns)
{
    dlock_metrics_hold(&sys->metrics, ended_ns - root->taken_ns);
    if (!root->counted && root->was_lost)
        dlock_lost_count(sys, root->loss);
    else if (!root->counted && st == DLOCK_LOST)
        dlock_lost_count(sys, dlock_era_is_over(sys, &root->facts) ? DLOCK_LOSS_FAIL_OVER
                                                                  : DLOCK_LOSS_REFUSED);
}

/* Ask the variant to give it back; and again, while its store may be restarting, until its
 * lease is over or the patience is.  A lock that lives with a session needs no
 * more than one request, because it is free without the connection.  *was_unanswered: one of the
 * requests may still arrive. */
static dlock_status give_back(const dlock_system *sys, const dlock_claim *claim,
                              bool *was_unanswered)
{
    static const struct dlock_retry PAUSES = {.kind = DLOCK_RETRY_EXPONENTIAL,
                                              .first_ms = 10,
                                              .max_ms = 200,
                                              .jitter_percent = 50};
    const dlock_variant *variant = sys->variant;
    int limit_ms = dlock_era(sys) != 0 ? FAILOVER_PATIENCE_MS : RELEASE_PATIENCE_MS;
    int patience_ms = claim->lease_ms < limit_ms ? claim->lease_ms : limit_ms;
    int64_t until_ns = dlock_clock_after(dlock_clock_ns(), patience_ms);
    bool may_be_done = false;
    dlock_status st = variant->release(sys->state, claim);

    for (unsigned nth = 1; variant->info.caps & DLOCK_CAP_EXPIRES; nth++) {
        int64_t next_ns = dlock_clock_ns() + dlock_retry_pause_ns(&PAUSES, nth);

        may_be_done = may_be_done || st == DLOCK_UNKNOWN;
        /* Sent twice, a release that asks for no owner could free the next one's. */
        if ((st != DLOCK_IO && (st != DLOCK_UNKNOWN || variant->blind_release)) ||
            next_ns >= until_ns)
            break;
        dlock_clock_sleep_until(next_ns);
        st = variant->release(sys->state, claim);
    }
    *was_unanswered = may_be_done;
    if (may_be_done && (st == DLOCK_LOST || st == DLOCK_IO))
        return dlock_fail(DLOCK_UNKNOWN, "a release went unanswered%s",
                          st == DLOCK_LOST ? "; the lock is not held any more" : "");
    return st;
}

/* A level under way back. */
struct leaving {
    struct dlock_hold *root;
    dlock_claim claim;
    uint64_t call;  /* to the recorder              */
    bool may_owe;   /* nobody waits for the store   */
    bool is_owed;   /* and the store was not waited for */
    bool was_unanswered; /* a request for it may still arrive */
};

/* Leave the release to the debts of the system.  The store may know the owner until its
 * answer, so nobody acquires under that any more. */
static bool owe(dlock_system *sys, struct leaving *level)
{
    struct dlock_hold *root = level->root;

    if (!level->may_owe || level->claim.level > 1 || sys->variant->read_release == NULL ||
        sys->opts.replicas_acknowledge > 0) /* whose acquires have another connection */
        return false;
    level->is_owed = dlock_debts_owe(sys, &root->facts, level->call,
                                     root->counted || root->was_lost);
    return level->is_owed;
}

/* Give back what a server before has granted: the server of now may know of it by replication,
 * and then is told, but another owner may have been in between.  A release that asks for no owner
 * would free that owner's lock. */
static dlock_status give_back_old(const dlock_system *sys, struct leaving *level)
{
    dlock_status st = DLOCK_LOST;

    if (!sys->variant->blind_release)
        st = give_back(sys, &level->claim, &level->was_unanswered);
    return st == DLOCK_OK ? DLOCK_LOST : st;
}

/* End a level of the root: give it to the next of this process, or back to the store. */
static dlock_status end_level(dlock_system *sys, struct leaving *level)
{
    const struct dlock_hold *root = level->root;
    bool is_in_line = root->is_in_line && level->claim.level == 1;
    dlock_status st;

    if (is_in_line && dlock_handover_pass(sys->handover, root, root->was_lost))
        return DLOCK_OK;
    if (dlock_era_is_over(sys, &root->facts))
        st = give_back_old(sys, level);
    else if (owe(sys, level))
        st = root->was_lost ? DLOCK_LOST : DLOCK_OK;
    else
        st = give_back(sys, &level->claim, &level->was_unanswered);
    if (is_in_line)
        dlock_handover_end(sys->handover, root,
                           st == DLOCK_OK && !level->is_owed && !level->was_unanswered);
    return st;
}

/* See dlock_release() and dlock_release_later(). */
static dlock_status release(dlock_system *sys, dlock_lease *lease, bool may_owe)
{
    struct dlock_spent before = dlock_spent_here();
    struct leaving leaving = {.may_owe = may_owe};
    struct dlock_hold *hold = NULL;
    struct dlock_hold *root;
    int64_t ended_ns;
    dlock_status st;
    int level = 0;

    dlock_error_clear();
    st = dlock_system_check(sys);
    if (st != DLOCK_OK)
        return st;
    (void)dlock_era_look(sys);
    if (lease != NULL)
        hold = dlock_holds_release(sys->holds, lease->hold, &level);
    if (hold == NULL)
        return dlock_lease_refuse();
    lease->hold = 0;
    root = leaving.root = atomic_load(&hold->root);
    if (root->abandoned) {
        dlock_holds_finish(sys->holds, hold);
        return DLOCK_LOST;
    }
    leaving.claim = dlock_claim_of(sys, &root->facts, level);
    leaving.call = dlock_recording_begin_release(
        sys, level == 1 && root == hold ? hold->recorded : 0, &leaving.claim);
    st = end_level(sys, &leaving);
    ended_ns = dlock_clock_ns();
    if (!leaving.is_owed)
        dlock_recording_end(sys, leaving.call, st, &leaving.claim, 0, false, ended_ns);
    /* An unanswered release may arrive any time later, even if a second one was answered: on
     * the connection that was given up.  The release would free what the thread takes next. */
    if (level == 1 && (leaving.is_owed || leaving.was_unanswered || dlock_is_failure(st)))
        dlock_holds_part(sys->holds, hold);
    if (st == DLOCK_LOST && level > 1)
        dlock_holds_lose(sys->holds, root, root->serial, true);
    if (level == 1)
        count_end(sys, root, st, ended_ns);
    dlock_metrics_spent(&sys->metrics, DLOCK_METRIC_other_commands, &before);
    dlock_holds_finish(sys->holds, hold);
    return st;
}

dlock_status dlock_release(dlock_system *sys, dlock_lease *lease)
{
    return release(sys, lease, false);
}

dlock_status dlock_release_later(dlock_system *sys, dlock_lease *lease)
{
    return release(sys, lease, true);
}

static void record_abandon(const dlock_system *sys, const struct dlock_hold *root)
{
    dlock_claim claim = dlock_claim_of(sys, &root->facts, 1);
    uint64_t call = dlock_recording_begin(sys, DLOCK_EVENT_ABANDON, &claim, 0, 0);

    dlock_recording_end(sys, call, DLOCK_OK, &claim, 0, false, 0);
}

dlock_status dlock_abandon(dlock_system *sys, dlock_lease *lease)
{
    struct dlock_hold *hold = NULL;
    const struct dlock_hold *root;
    dlock_status st;

    dlock_error_clear();
    st = dlock_system_check(sys);
    if (st != DLOCK_OK)
        return st;
    if (!(sys->variant->info.caps & DLOCK_CAP_EXPIRES))
        return dlock_release(sys, lease); /* it would be held for ever */
    if (lease != NULL)
        hold = dlock_holds_forget(sys->holds, lease->hold);
    if (hold == NULL)
        return dlock_lease_refuse();
    root = atomic_load(&hold->root);
    record_abandon(sys, root);
    if (root->is_in_line)
        dlock_handover_end(sys->handover, root, false);
    /* The store still knows the old number as the holder: under it the thread could
     * enter again. */
    dlock_holds_part(sys->holds, hold);
    dlock_holds_finish(sys->holds, hold);
    lease->hold = 0;
    return DLOCK_OK;
}
