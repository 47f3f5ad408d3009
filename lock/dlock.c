/* SPDX-License-Identifier: MIT */
/* dlock.c -- the public calls but acquiring: check the arguments, ask the variant, keep
 * the table. */
#include "lock/dlock.h"

#include <stdlib.h>
#include <string.h>
#include <uuid/uuid.h>

#include "base/os/clock.h"
#include "base/os/fork.h"
#include "lock/lost.h"
#include "lock/options.h"
#include "lock/recording.h"
#include "lock/status.h"
#include "lock/system.h"
#include "lock/watchdog.h"

/* Given up of every lease, beside the variant's share: Redis counts expiry in whole
 * milliseconds, and so do we. */
enum { DRIFT_FLOOR_MS = 2, RENEWALS_PER_LEASE = 3, PROBE_EVERY_MS = 100 };

/* For how long a release goes on while its store cannot be reached. */
enum { RELEASE_PATIENCE_MS = 2000 };

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

dlock_status dlock_system_check(const dlock_system *sys)
{
    if (sys == NULL)
        return dlock_fail(DLOCK_INVALID, "no system was given");
    if (sys->generation != dlock_fork_generation())
        return dlock_fail(DLOCK_INVALID, "the system belongs to the parent process");
    return DLOCK_OK;
}

/* Does anybody need the watchdog? */
static bool is_watched(const dlock_system *sys)
{
    if (sys->variant->probe != NULL)
        return true; /* a session may end any time, and then the lease is not valid */
    if (!(sys->variant->info.caps & DLOCK_CAP_EXPIRES))
        return false;
    return (sys->opts.watchdog && sys->variant->watched) || sys->opts.on_lost != NULL;
}

static dlock_status start(dlock_system *sys, const dlock_options *opts)
{
    const dlock_variant *variant = sys->variant;
    uuid_t uuid;
    dlock_status st = DLOCK_OK;

    if (!dlock_options_copy(&sys->opts, opts))
        return dlock_fail(DLOCK_NOMEM, "no memory for the options");
    sys->opts.lease_ms = dlock_options_lease_ms(variant, opts->lease_ms);
    st = dlock_retry_parse(sys->opts.retry, &sys->retry);
    if (st != DLOCK_OK)
        return st;
    uuid_generate_random(uuid);
    uuid_unparse_lower(uuid, sys->uuid);
    sys->holds = dlock_holds_open(variant->info.caps & DLOCK_CAP_REENTRANT);
    if (sys->holds == NULL)
        return dlock_fail(DLOCK_NOMEM, "no memory for the table of holds");
    if (variant->open != NULL)
        st = variant->open(&sys->opts, &sys->state);
    if (st == DLOCK_OK)
        st = dlock_recording_open(sys);
    if (st != DLOCK_OK || !is_watched(sys))
        return st;
    atomic_store(&sys->watchdog, dlock_watchdog_start(sys));
    if (atomic_load(&sys->watchdog) == NULL)
        return dlock_fail(DLOCK_NOMEM, "the watchdog's thread cannot be started");
    return DLOCK_OK;
}

dlock_status dlock_open(dlock_system **out, const dlock_options *given)
{
    const dlock_variant *variant;
    dlock_options opts;
    dlock_system *sys;
    dlock_status st;

    dlock_error_clear();
    *out = NULL;
    st = dlock_options_read(&opts, given);
    if (st != DLOCK_OK)
        return st;
    variant = dlock_options_check(&opts);
    if (variant == NULL)
        return DLOCK_INVALID;
    sys = aligned_alloc(_Alignof(dlock_system), sizeof(*sys));
    if (sys == NULL)
        return dlock_fail(DLOCK_NOMEM, "no memory for the system");
    memset(sys, 0, sizeof(*sys));
    pthread_mutex_init(&sys->starting, NULL);
    dlock_fork_watch();
    sys->variant = variant;
    sys->generation = dlock_fork_generation();
    st = start(sys, &opts);
    if (st != DLOCK_OK) {
        dlock_close(sys);
        return st;
    }
    *out = sys;
    return DLOCK_OK;
}

void dlock_close(dlock_system *sys)
{
    /* In a child the threads are gone and the mutexes may be locked for ever: whatever
     * the parent had there is left alone. */
    if (sys == NULL || sys->generation != dlock_fork_generation())
        return;
    dlock_watchdog_stop(atomic_load(&sys->watchdog));
    dlock_lost_close(sys);
    if (sys->state != NULL)
        sys->variant->close(sys->state);
    dlock_holds_close(sys->holds);
    dlock_recording_close(sys);
    dlock_options_free(&sys->opts);
    pthread_mutex_destroy(&sys->starting);
    free(sys);
}

dlock_status dlock_check(dlock_system *sys)
{
    dlock_status st;

    dlock_error_clear();
    st = dlock_system_check(sys);
    if (st != DLOCK_OK || sys->variant->check == NULL)
        return st;
    return sys->variant->check(sys->state);
}

static dlock_status refuse_lease(void)
{
    return dlock_fail(DLOCK_INVALID, "the lease was never granted, is released, or is "
                                     "another thread's");
}

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
        *st = refuse_lease();
    return root;
}

dlock_status dlock_renew_claim(dlock_system *sys, const dlock_claim *claim)
{
    uint64_t commands_before = dlock_commands_sent;
    uint64_t call = dlock_recording_begin(sys, DLOCK_EVENT_RENEW, claim, 0, 0);
    int64_t sent_ns = dlock_clock_ns();
    dlock_status st = sys->variant->renew(sys->state, claim);

    dlock_recording_end(sys, call, st, claim, sent_ns, st == DLOCK_OK, 0);
    dlock_metrics_add(&sys->metrics,
                      st == DLOCK_OK ? DLOCK_METRIC_renewals
                                     : DLOCK_METRIC_renewals_failed, 1);
    dlock_metrics_add(&sys->metrics, DLOCK_METRIC_other_commands,
                      dlock_commands_sent - commands_before);
    return st;
}

dlock_status dlock_renew(dlock_system *sys, dlock_lease *lease)
{
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
    if (!dlock_holds_is_held(sys->holds, root, root->serial))
        return DLOCK_LOST;
    claim = dlock_claim_of(sys, &root->facts, 1);
    sent_ns = dlock_clock_ns();
    st = dlock_renew_claim(sys, &claim);
    deadline_ns = dlock_lease_end_ns(sys, claim.lease_ms, sent_ns);
    if (st == DLOCK_OK && deadline_ns <= dlock_clock_ns())
        st = DLOCK_LOST;
    if (st == DLOCK_LOST)
        dlock_holds_lose(sys->holds, root, root->serial, false);
    if (st != DLOCK_OK)
        return st;
    if (!dlock_holds_renewed(sys->holds, root, root->serial, deadline_ns,
                             dlock_renew_due_ns(sys, claim.lease_ms, sent_ns)))
        return DLOCK_LOST; /* the watchdog has said so meanwhile */
    lease->deadline_ns = deadline_ns;
    return DLOCK_OK;
}

/* A hold is over.  Its root is the calling thread's alone by now. */
static void count_end(dlock_system *sys, const struct dlock_hold *root, dlock_status st,
                      int64_t ended_ns)
{
    dlock_metrics_hold(&sys->metrics, ended_ns - root->taken_ns);
    if (!root->counted && (st == DLOCK_LOST || root->was_lost))
        dlock_metrics_add(&sys->metrics, DLOCK_METRIC_lost, 1);
}

/* Ask the variant to give it back; and again, while its store may be restarting, until its
 * lease is over or RELEASE_PATIENCE_MS have passed.  What lives with a session needs no
 * more than one request: without the connection it is free. */
static dlock_status give_back(const dlock_system *sys, const dlock_claim *claim)
{
    static const struct dlock_retry PAUSES = {.kind = DLOCK_RETRY_EXPONENTIAL,
                                              .first_ms = 10,
                                              .max_ms = 200,
                                              .jitter_percent = 50};
    const dlock_variant *variant = sys->variant;
    int patience_ms = claim->lease_ms < RELEASE_PATIENCE_MS ? claim->lease_ms
                                                            : RELEASE_PATIENCE_MS;
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
    if (may_be_done && (st == DLOCK_LOST || st == DLOCK_IO))
        return dlock_fail(DLOCK_UNKNOWN, "a release went unanswered%s",
                          st == DLOCK_LOST ? "; the lock is not held any more" : "");
    return st;
}

dlock_status dlock_release(dlock_system *sys, dlock_lease *lease)
{
    uint64_t commands_before = dlock_commands_sent;
    struct dlock_hold *hold = NULL;
    struct dlock_hold *root;
    dlock_claim claim;
    uint64_t call;
    int64_t ended_ns;
    dlock_status st;
    int level = 0;

    dlock_error_clear();
    st = dlock_system_check(sys);
    if (st != DLOCK_OK)
        return st;
    if (lease != NULL)
        hold = dlock_holds_release(sys->holds, lease->hold, &level);
    if (hold == NULL)
        return refuse_lease();
    lease->hold = 0;
    root = atomic_load(&hold->root);
    if (root->abandoned) {
        dlock_holds_finish(sys->holds, hold);
        return DLOCK_LOST;
    }
    claim = dlock_claim_of(sys, &root->facts, level);
    call = dlock_recording_begin_release(
        sys, level == 1 && root == hold ? hold->recorded : 0, &claim);
    st = give_back(sys, &claim);
    ended_ns = dlock_clock_ns();
    dlock_recording_end(sys, call, st, &claim, 0, false, ended_ns);
    /* An unanswered release may arrive any time later. */
    if (dlock_is_failure(st) && level == 1)
        dlock_holds_part(sys->holds, hold);
    if (st == DLOCK_LOST && level > 1)
        dlock_holds_lose(sys->holds, root, root->serial, true);
    if (level == 1)
        count_end(sys, root, st, ended_ns);
    dlock_metrics_add(&sys->metrics, DLOCK_METRIC_other_commands,
                      dlock_commands_sent - commands_before);
    dlock_holds_finish(sys->holds, hold);
    return st;
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
        return refuse_lease();
    record_abandon(sys, atomic_load(&hold->root));
    /* The store still knows the old number as the holder: under it the thread could
     * enter again. */
    dlock_holds_part(sys->holds, hold);
    dlock_holds_finish(sys->holds, hold);
    lease->hold = 0;
    return DLOCK_OK;
}

/* Is the session still there that keeps a lock without a deadline?  The watchdog looks
 * too, but a process that was stopped must not go by what it saw before. */
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
    int64_t deadline_ns;
    int64_t left_ns;

    if (sys == NULL || lease == NULL || sys->generation != dlock_fork_generation())
        return 0;
    deadline_ns = dlock_holds_deadline_ns(sys->holds, lease->hold);
    if (deadline_ns == INT64_MAX)
        return is_session_alive(sys, lease) ? INT64_MAX : 0;
    left_ns = deadline_ns - dlock_clock_ns();
    return left_ns > 0 ? (left_ns + DLOCK_NS_PER_MS - 1) / DLOCK_NS_PER_MS : 0;
}
