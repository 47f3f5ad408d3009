/* SPDX-License-Identifier: MIT */
/* dlock.c -- the public calls: check the arguments, ask the variant, keep the table. */
#include "lock/dlock.h"

#include <stdlib.h>
#include <string.h>
#include <uuid/uuid.h>

#include "lock/clock.h"
#include "lock/fork.h"
#include "lock/options.h"
#include "lock/status.h"
#include "lock/system.h"
#include "lock/token.h"
#include "lock/wait.h"
#include "lock/watchdog.h"

/* Given up of every lease, beside the variant's share: Redis counts expiry in whole
 * milliseconds, and so do we. */
enum { DRIFT_FLOOR_MS = 2, RENEWALS_PER_LEASE = 3, PROBE_EVERY_MS = 100 };

int64_t dlock_lease_end_ns(const dlock_system *sys, int64_t sent_ns)
{
    int64_t lease_ns = sys->opts.lease_ms * DLOCK_NS_PER_MS;
    int64_t drift_ns = lease_ns / 1000 * sys->variant->drift_per_mille +
                       DRIFT_FLOOR_MS * DLOCK_NS_PER_MS;

    if (!(sys->variant->info.caps & DLOCK_CAP_EXPIRES))
        return INT64_MAX;
    return sent_ns + lease_ns - drift_ns;
}

int64_t dlock_renew_due_ns(const dlock_system *sys, int64_t sent_ns)
{
    if (sys->variant->probe != NULL)
        return sent_ns + PROBE_EVERY_MS * DLOCK_NS_PER_MS;
    return sent_ns + sys->opts.lease_ms * DLOCK_NS_PER_MS / RENEWALS_PER_LEASE;
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
        .lease_ms = sys->opts.lease_ms,
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
}

/* OK if the calling process may use `sys`. */
static dlock_status check_system(const dlock_system *sys)
{
    if (sys == NULL)
        return dlock_fail(DLOCK_INVALID, "no system was given");
    if (sys->generation != dlock_fork_generation())
        return dlock_fail(DLOCK_INVALID, "the system belongs to the parent process");
    return DLOCK_OK;
}

static dlock_status check_name(const char *name)
{
    size_t len = 0;

    if (name == NULL || name[0] == '\0')
        return dlock_fail(DLOCK_INVALID, "the name of the lock is empty");
    for (; name[len] != '\0'; len++) {
        unsigned char c = (unsigned char)name[len];

        if (len == DLOCK_NAME_MAX)
            return dlock_fail(DLOCK_INVALID, "the name of the lock is over %d bytes",
                              (int)DLOCK_NAME_MAX);
        if (c < ' ' || c == 127)
            return dlock_fail(DLOCK_INVALID, "byte %zu of the lock's name is a control "
                              "character", len + 1);
    }
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
    dlock_options_limit(&sys->opts, variant);
    uuid_generate_random(uuid);
    uuid_unparse_lower(uuid, sys->uuid);
    sys->holds = dlock_holds_open(variant->info.caps & DLOCK_CAP_REENTRANT);
    if (sys->holds == NULL)
        return dlock_fail(DLOCK_NOMEM, "no memory for the table of holds");
    if (variant->open != NULL)
        st = variant->open(&sys->opts, &sys->state);
    if (st != DLOCK_OK || !is_watched(sys))
        return st;
    sys->watchdog = dlock_watchdog_start(
        sys, variant->probe != NULL || (sys->opts.watchdog && variant->watched));
    if (sys->watchdog == NULL)
        return dlock_fail(DLOCK_NOMEM, "the watchdog's thread cannot be started");
    return DLOCK_OK;
}

dlock_status dlock_open(dlock_system **out, const dlock_options *opts)
{
    const dlock_variant *variant;
    dlock_system *sys;
    dlock_status st;

    dlock_error_clear();
    *out = NULL;
    variant = dlock_options_check(opts);
    if (variant == NULL)
        return DLOCK_INVALID;
    sys = calloc(1, sizeof(*sys));
    if (sys == NULL)
        return dlock_fail(DLOCK_NOMEM, "no memory for the system");
    dlock_fork_watch();
    sys->variant = variant;
    sys->generation = dlock_fork_generation();
    st = start(sys, opts);
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
    dlock_watchdog_stop(sys->watchdog);
    if (sys->state != NULL)
        sys->variant->close(sys->state);
    dlock_holds_close(sys->holds);
    dlock_options_free(&sys->opts);
    free(sys);
}

dlock_status dlock_check(dlock_system *sys)
{
    dlock_status st;

    dlock_error_clear();
    st = check_system(sys);
    if (st != DLOCK_OK || sys->variant->check == NULL)
        return st;
    return sys->variant->check(sys->state);
}

/* An acquire under way. */
struct acquiring {
    dlock_system *sys;
    struct dlock_hold *hold;
    dlock_claim claim;
    int64_t sent_ns;
    int64_t wait_until_ns; /* 0: does not wait */
    bool was_late; /* the last grant came after its own lease had run out */
};

/* Take back what an attempt may have left.  The detail of why stays what it was. */
static void clean_up(struct acquiring *job)
{
    const dlock_variant *variant = job->sys->variant;
    char why[256];
    dlock_status st;

    if (variant->blind_release)
        return;
    strncpy(why, dlock_error(), sizeof(why) - 1);
    why[sizeof(why) - 1] = '\0';
    st = variant->release(job->sys->state, &job->claim);
    if (dlock_is_failure(st) && job->claim.level == 1)
        dlock_owner_retire();
    (void)dlock_fail(st, "%s", why);
}

/* Make the claim for the next attempt: a request of an earlier one that is still on its
 * way must never fit a later one, so each has its own token. */
static void prepare(struct acquiring *job)
{
    struct dlock_hold_facts *facts = &job->hold->facts;
    struct dlock_hold *root = atomic_load(&job->hold->root);
    int level = 1;

    if (root != job->hold) {
        strcpy(facts->number, root->facts.number);
        level = root->level_count + 1;
    } else {
        strcpy(facts->number, dlock_owner_here()->number);
    }
    memcpy(facts->owner, job->sys->uuid, DLOCK_UUID_LEN);
    facts->owner[DLOCK_UUID_LEN] = ':';
    strcpy(facts->owner + DLOCK_UUID_LEN + 1, facts->number);
    dlock_token_make(facts->token);
    job->claim = dlock_claim_of(job->sys, facts, level);
    job->claim.wait_until_ns = job->wait_until_ns;
}

static dlock_status attempt(void *arg, int64_t *free_in_ms)
{
    struct acquiring *job = arg;
    const dlock_variant *variant = job->sys->variant;
    dlock_status st;

    prepare(job);
    job->was_late = false;
    job->sent_ns = dlock_clock_ns();
    st = variant->try_acquire(job->sys->state, &job->claim);
    if (st == DLOCK_LOST && job->claim.level > 1) {
        dlock_holds_split(job->sys->holds, job->hold);
        if (job->sys->watchdog != NULL)
            dlock_watchdog_expect(job->sys->watchdog, 0);
        prepare(job);
        job->sent_ns = dlock_clock_ns();
        st = variant->try_acquire(job->sys->state, &job->claim);
    }
    *free_in_ms = job->claim.free_in_ms;
    if (st == DLOCK_OK &&
        dlock_lease_end_ns(job->sys, job->sent_ns) <= dlock_clock_ns()) {
        job->was_late = true;
        st = DLOCK_BUSY;
        clean_up(job);
    } else if (st == DLOCK_UNKNOWN || st == DLOCK_PROTOCOL) {
        clean_up(job);
    }
    return st;
}

dlock_status dlock_acquire(dlock_system *sys, const char *name, int64_t wait_ms,
                           dlock_lease *lease)
{
    struct acquiring job = {.sys = sys};
    int64_t deadline_ns;
    dlock_status st;

    dlock_error_clear();
    st = check_system(sys);
    if (st == DLOCK_OK)
        st = check_name(name);
    if (st == DLOCK_OK && lease == NULL)
        st = dlock_fail(DLOCK_INVALID, "there is no lease to fill in");
    if (st != DLOCK_OK)
        return st;
    job.hold = dlock_holds_begin(sys->holds, name);
    if (job.hold == NULL)
        return dlock_fail(DLOCK_NOMEM, "no memory for a hold");
    if (wait_ms != 0)
        job.wait_until_ns =
            wait_ms < 0 ? INT64_MAX : dlock_clock_after(dlock_clock_ns(), wait_ms);
    st = dlock_wait(sys->variant, sys->state, &job.claim, wait_ms, attempt, &job);
    if (st == DLOCK_TIMEOUT && sys->variant->leave != NULL)
        sys->variant->leave(sys->state, &job.claim);
    if (st != DLOCK_OK) {
        dlock_holds_abandon(sys->holds, job.hold);
        if (job.was_late && !dlock_is_failure(st))
            return dlock_fail(DLOCK_TIMEOUT,
                              "granted only after the lease of %d ms had run out",
                              sys->opts.lease_ms);
        return st;
    }
    job.hold->facts.note = job.claim.note;
    deadline_ns = dlock_lease_end_ns(sys, job.sent_ns);
    dlock_lease_fill(lease, &job.claim, deadline_ns,
                     dlock_holds_grant(sys->holds, job.hold, deadline_ns,
                                       dlock_renew_due_ns(sys, job.sent_ns)));
    if (sys->watchdog != NULL)
        dlock_watchdog_expect(sys->watchdog, dlock_renew_due_ns(sys, job.sent_ns));
    return DLOCK_OK;
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

    *st = check_system(sys);
    if (*st != DLOCK_OK)
        return NULL;
    if (lease != NULL)
        root = dlock_holds_find(sys->holds, lease->hold);
    if (root == NULL)
        *st = refuse_lease();
    return root;
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
    st = sys->variant->renew(sys->state, &claim);
    deadline_ns = dlock_lease_end_ns(sys, sent_ns);
    if (st == DLOCK_OK && deadline_ns <= dlock_clock_ns())
        st = DLOCK_LOST;
    if (st == DLOCK_LOST)
        dlock_holds_lose(sys->holds, root, root->serial, false);
    if (st != DLOCK_OK)
        return st;
    if (!dlock_holds_renewed(sys->holds, root, root->serial, deadline_ns,
                             dlock_renew_due_ns(sys, sent_ns)))
        return DLOCK_LOST; /* the watchdog has said so meanwhile */
    lease->deadline_ns = deadline_ns;
    return DLOCK_OK;
}

dlock_status dlock_release(dlock_system *sys, dlock_lease *lease)
{
    struct dlock_hold *hold = NULL;
    struct dlock_hold *root;
    dlock_claim claim;
    dlock_status st;
    int level = 0;

    dlock_error_clear();
    st = check_system(sys);
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
    st = sys->variant->release(sys->state, &claim);
    /* An unanswered release may arrive any time later. */
    if (dlock_is_failure(st) && level == 1)
        dlock_owner_retire();
    if (st == DLOCK_LOST && level > 1)
        dlock_holds_lose(sys->holds, root, root->serial, true);
    dlock_holds_finish(sys->holds, hold);
    return st;
}

dlock_status dlock_abandon(dlock_system *sys, dlock_lease *lease)
{
    struct dlock_hold *hold = NULL;
    dlock_status st;

    dlock_error_clear();
    st = check_system(sys);
    if (st != DLOCK_OK)
        return st;
    if (!(sys->variant->info.caps & DLOCK_CAP_EXPIRES))
        return dlock_release(sys, lease); /* it would be held for ever */
    if (lease != NULL)
        hold = dlock_holds_forget(sys->holds, lease->hold);
    if (hold == NULL)
        return refuse_lease();
    dlock_holds_finish(sys->holds, hold);
    lease->hold = 0;
    /* The store still knows the old number as the holder: under it the thread could
     * enter again. */
    dlock_owner_retire();
    return DLOCK_OK;
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
        return INT64_MAX;
    left_ns = deadline_ns - dlock_clock_ns();
    return left_ns > 0 ? (left_ns + DLOCK_NS_PER_MS - 1) / DLOCK_NS_PER_MS : 0;
}
