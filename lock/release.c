/* SPDX-License-Identifier: MIT */
/* release.c -- releasing a level of a hold, with or without waiting for the store, and
 * abandoning a hold. */
#include "base/os/clock.h"
#include "base/os/thread.h"
#include "lock/debts.h"
#include "lock/era.h"
#include "lock/handover.h"
#include "lock/lease.h"
#include "lock/lost.h"
#include "lock/recording.h"
#include "lock/retry.h"
#include "lock/status.h"
#include "lock/watchdog.h"

/* How long a release tries again while its store cannot be reached.  The second limit
 * is for a store that may fail over: without the release, a new master would keep the
 * replicated lock until its lease ends. */
enum { RELEASE_PATIENCE_MS = 2000, FAILOVER_PATIENCE_MS = 10000 };

/* Count the end of a hold.  Only the calling thread uses its root now. */
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

/* Call the variant's release.  While the store may be restarting, try again, until the
 * lease has ended or the time limit has passed.  A lock of a session needs only one
 * request, because the lock is free without the connection.  *was_unanswered: one of
 * the requests may still arrive. */
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
        /* A blind release must not be sent twice, because the second one could free the
         * next owner's lock. */
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

/* A level that is being released. */
struct leaving {
    struct dlock_hold *root;
    dlock_claim claim;
    uint64_t call;  /* to the recorder              */
    bool may_owe;   /* the caller does not want to wait for the store */
    bool is_owed;   /* the release became a debt */
    bool was_unanswered; /* a release of it may still arrive */
};

/* Make the release a debt of the system.  Until the store has answered, it may hold the
 * lock for this owner, so no later acquire uses the owner. */
static bool owe(dlock_system *sys, struct leaving *level)
{
    struct dlock_hold *root = level->root;

    if (!level->may_owe || level->claim.level > 1 || sys->variant->read_release == NULL)
        return false;
    /* Then acquires use another connection, and could overtake this release. */
    if (sys->opts.replicas_acknowledge > 0 || atomic_load(&sys->has_async))
        return false;
    level->is_owed = dlock_debts_owe(sys, &root->facts, level->call,
                                     root->counted || root->was_lost);
    return level->is_owed;
}

/* Release a hold that an earlier master granted.  The present master may have the lock
 * by replication, so it gets the release.  But another owner may have had the lock
 * meanwhile, so a blind release, which could free that owner's lock, is not sent. */
static dlock_status give_back_old(const dlock_system *sys, struct leaving *level)
{
    dlock_status st = DLOCK_LOST;

    if (!sys->variant->blind_release)
        st = give_back(sys, &level->claim, &level->was_unanswered);
    return st == DLOCK_OK ? DLOCK_LOST : st;
}

/* End a level of the root: hand the lock over to the next waiter of this process, or
 * release it in the store. */
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
    /* An unanswered release may still arrive later, on the connection that was given
     * up, even if a second release was answered.  It could free the lock that the
     * thread takes next, so the thread gets another number. */
    if (level == 1 && (leaving.is_owed || leaving.was_unanswered || dlock_is_failure(st)))
        dlock_holds_retire_number(sys->holds, hold);
    if (st == DLOCK_LOST && level > 1) {
        dlock_holds_lose(sys->holds, root, root->serial, true);
        dlock_watchdog_expect(atomic_load(&sys->watchdog), 0);
    }
    if (level == 1)
        count_end(sys, root, st, ended_ns);
    dlock_metrics_spent(&sys->metrics, DLOCK_METRIC_other_commands, &before);
    dlock_holds_finish(sys->holds, hold);
    return st;
}

dlock_status dlock_release(dlock_system *sys, dlock_lease *lease)
{
    DLOCK_PUT_OFF_CANCEL;
    return release(sys, lease, false);
}

dlock_status dlock_release_later(dlock_system *sys, dlock_lease *lease)
{
    DLOCK_PUT_OFF_CANCEL;
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
    DLOCK_PUT_OFF_CANCEL;
    struct dlock_hold *hold = NULL;
    const struct dlock_hold *root;
    dlock_status st;

    dlock_error_clear();
    st = dlock_system_check(sys);
    if (st != DLOCK_OK)
        return st;
    if (!(sys->variant->info.caps & DLOCK_CAP_EXPIRES))
        return dlock_release(sys, lease); /* without a lease, the lock would be held for
                                           * ever */
    if (lease != NULL)
        hold = dlock_holds_forget(sys->holds, lease->hold);
    if (hold == NULL)
        return dlock_lease_refuse();
    root = atomic_load(&hold->root);
    record_abandon(sys, root);
    if (root->is_in_line)
        dlock_handover_end(sys->handover, root, false);
    /* The store still holds the lock for the old number, with which the thread could
     * enter again. */
    dlock_holds_retire_number(sys->holds, hold);
    dlock_holds_finish(sys->holds, hold);
    lease->hold = 0;
    return DLOCK_OK;
}
