/* SPDX-License-Identifier: MIT */
/* acquire.c -- taking a lock: the checks, the attempts, and cleaning up after them. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/os/clock.h"
#include "base/os/thread.h"
#include "lock/cancel.h"
#include "lock/debts.h"
#include "lock/era.h"
#include "lock/fault.h"
#include "lock/handover.h"
#include "lock/lease.h"
#include "lock/name.h"
#include "lock/options.h"
#include "lock/recording.h"
#include "lock/request.h"
#include "lock/status.h"
#include "lock/system.h"
#include "lock/token.h"
#include "lock/wait.h"
#include "lock/watchdog.h"

/* The longest wait of one attempt in its store if the acquire can be cancelled.  The
 * next attempt loses the place in the store's queue if there is one. */
enum { STORE_SLICE_MS = 50 };

/* ---- doubts: attempts that may have left a lock in the store, because neither the attempt nor the
 * release after it had an answer ---- */

/* More doubts arise only while the store is away for long. */
enum { DOUBTS_MAX = 4 };

struct doubt {
    struct dlock_hold_facts facts;
    int level;
    bool is_for_ever; /* no release is safe, so only the lease ends it */
    bool is_refused;  /* the store answered the release, and refused it */
    int64_t until_ns; /* the lease has certainly ended by then */
};

/* Begins as {0}. */
struct doubts {
    struct doubt *at; /* an array of `count`, the oldest first; NULL: no attempt was noted yet */
    int count;
};

/* The instant at which the store has certainly ended the lock of the claim by itself.
 * The request may still be on its way now, so the lease counts from now. */
static int64_t doubt_ends_ns(const dlock_system *sys, const dlock_claim *claim)
{
    const unsigned ends = DLOCK_CAP_EXPIRES | DLOCK_CAP_ATOMIC;

    if ((sys->variant->info.caps & ends) != ends)
        return INT64_MAX;
    return dlock_clock_after(dlock_clock_ns(), claim->lease_ms);
}

/* Note that the store may hold the lock for `claim`, whose release answered `released`, a
 * failure.  Without memory the note is lost; if there are many notes, the oldest is lost.
 * A lock whose note is lost ends with its lease. */
static void doubts_note(struct doubts *doubts, const dlock_system *sys,
                        const struct dlock_hold_facts *facts, const dlock_claim *claim,
                        dlock_status released)
{
    struct doubt *doubt;

    if (doubts->at == NULL)
        doubts->at = calloc(DOUBTS_MAX, sizeof(*doubts->at));
    if (doubts->at == NULL)
        return;
    if (doubts->count == DOUBTS_MAX)
        memmove(doubts->at, doubts->at + 1, (size_t)--doubts->count * sizeof(*doubts->at));
    doubt = &doubts->at[doubts->count++];
    doubt->facts = *facts;
    doubt->facts.note = claim->note;
    doubt->level = claim->level;
    doubt->is_for_ever = sys->variant->blind_release;
    doubt->is_refused = released == DLOCK_PROTOCOL;
    doubt->until_ns = doubt_ends_ns(sys, claim);
}

/* Release the lock of each note once more.  A note is removed when the store has
 * answered, or when the lease of the attempt has certainly ended.  After the first
 * release without an answer, no other release is sent. */
static void doubts_settle(struct doubts *doubts, dlock_system *sys)
{
    bool answers = true;
    int kept_count = 0;

    for (int i = 0; i < doubts->count; i++) {
        struct doubt *doubt = &doubts->at[i];
        dlock_claim claim = dlock_claim_of(sys, &doubt->facts, doubt->level);

        if (dlock_clock_ns() >= doubt->until_ns)
            continue;
        if (answers && !doubt->is_for_ever) {
            answers = !dlock_is_failure(sys->variant->release(sys->state, &claim));
            if (answers)
                continue;
        }
        if (kept_count != i)
            doubts->at[kept_count] = *doubt;
        kept_count++;
    }
    doubts->count = kept_count;
}

/* The answer of an acquire that ended with `st` and was not granted: `st`; or UNKNOWN
 * instead of TIMEOUT or IO, if a note is left, so that an attempt may have been granted. */
static dlock_status doubts_answer(struct doubts *doubts, dlock_system *sys,
                                  dlock_status st)
{
    char why[256];

    if ((st != DLOCK_TIMEOUT && st != DLOCK_IO) || doubts->count == 0)
        return st;
    snprintf(why, sizeof(why), "%s", dlock_error());
    doubts_settle(doubts, sys);
    if (doubts->count == 0)
        return dlock_fail(st, "%s", why);
    return dlock_fail(DLOCK_UNKNOWN, "an attempt went unanswered and may stay granted "
                                     "until its lease ends%s%.180s",
                      why[0] != '\0' ? "; " : "", why);
}

/* May the release be sent again at any time?  The owner of an outermost level was given up
 * with the note, so no later acquire uses it. */
static bool doubt_can_be_owed(const struct doubt *doubt, const dlock_system *sys)
{
    return sys->variant->read_release != NULL && !doubt->is_for_ever && !doubt->is_refused &&
           doubt->level == 1 && dlock_clock_ns() < doubt->until_ns;
}

/* Free the notes.  If the acquire ended with an answer other than OK and PROTOCOL, each
 * release that is left becomes a debt (debts.h), so that the lock is free soon after the
 * store answers again.  If the store refused the acquire or the release, the variant cannot
 * have debts, or the note is of an inner level, the lock ends with its lease. */
static void doubts_end(struct doubts *doubts, dlock_system *sys, dlock_status st)
{
    bool is_owed = st != DLOCK_OK && st != DLOCK_PROTOCOL;

    for (int i = 0; i < doubts->count && is_owed; i++)
        if (doubt_can_be_owed(&doubts->at[i], sys))
            dlock_debts_owe_attempt(sys, &doubts->at[i].facts);
    free(doubts->at);
}

/* ---- the acquire ---- */

/* An acquire under way. */
struct acquiring {
    dlock_system *sys;
    const dlock_request *request;
    struct dlock_hold *hold;
    dlock_claim claim;
    int64_t begun_ns, answered_ns;
    int64_t until_ns; /* 0: does not wait */
    const struct dlock_waiting *waiting;
    bool has_waited;     /* a wait is recorded since the last given-up place */
    unsigned wake_count; /* wake-ups that are recorded */
    bool was_late; /* the last grant came after its own lease had run out */
    bool in_vain;  /* a grant came too late, or as its wait ended, and was given back */
    struct doubts doubts;
    struct dlock_place place; /* of handover.h; used if the system has lines */
};

/* The lease of the request or of the system, at most the variant's longest. */
static int asked_lease_ms(const struct acquiring *job)
{
    const dlock_system *sys = job->sys;

    if (job->request->lease_ms == 0)
        return sys->opts.lease_ms;
    return dlock_options_lease_ms(sys->variant, job->request->lease_ms);
}

/* Does the watchdog renew this hold, or probe its session? */
static bool wants_watchdog(const struct acquiring *job)
{
    const dlock_system *sys = job->sys;

    return sys->variant->probe != NULL || (sys->opts.watchdog && sys->variant->watched &&
                                           job->request->lease_ms == 0);
}

/* Note that the last attempt may have been granted, and that its release failed. */
static void note_doubt(struct acquiring *job, dlock_status released)
{
    doubts_note(&job->doubts, job->sys, &job->hold->facts, &job->claim, released);
}

/* Give the thread, or the line, another owner number, because the store may hold the
 * lock for the present number. */
static void part(struct acquiring *job)
{
    if (job->place.asks)
        dlock_handover_renumber(job->sys->handover, &job->place);
    else if (job->claim.level == 1)
        dlock_holds_retire_number(job->sys->holds, job->hold);
}

/* Release what an unanswered attempt may have left in the store: a grant, or a place in
 * a queue.  The reason in dlock_error() stays that of the attempt. */
static void clean_up(struct acquiring *job)
{
    const dlock_variant *variant = job->sys->variant;
    char why[256];
    dlock_status st;

    if (job->until_ns != 0)
        dlock_recording_mark(job->sys, DLOCK_EVENT_WAIT, &job->claim, DLOCK_WAIT_GIVEN_UP,
                             job->claim.sent_ns);
    job->has_waited = false;
    if (variant->blind_release) {
        note_doubt(job, DLOCK_UNKNOWN);
        return;
    }
    strncpy(why, dlock_error(), sizeof(why) - 1);
    why[sizeof(why) - 1] = '\0';
    st = variant->release(job->sys->state, &job->claim);
    if (dlock_is_failure(st))
        note_doubt(job, st);
    if (dlock_is_failure(st) || job->place.asks)
        part(job);
    (void)dlock_fail(st, "%s", why);
}

/* Set until when the attempt may wait, in the core and in the store. */
static void prepare_wait(struct acquiring *job)
{
    int64_t slice_ns;

    if (job->sys->retry.kind == DLOCK_RETRY_NONE)
        return;
    job->claim.wait_until_ns = job->until_ns;
    job->claim.cancel = job->request->cancel;
    if (job->sys->retry.kind != DLOCK_RETRY_PUSH)
        return;
    job->claim.store_until_ns = job->until_ns;
    if (job->request->cancel == NULL)
        return;
    slice_ns = dlock_clock_after(dlock_clock_ns(), STORE_SLICE_MS);
    if (job->until_ns > slice_ns)
        job->claim.store_until_ns = slice_ns;
}

/* Make the claim for the next attempt.  Each attempt has its own token, so that a late
 * request of an earlier attempt never matches a later one.  The store has one lease for
 * all levels, so an inner level must not shorten it. */
static void prepare(struct acquiring *job)
{
    struct dlock_hold_facts *facts = &job->hold->facts;
    struct dlock_hold *root = atomic_load(&job->hold->root);
    int level = 1;

    facts->lease_ms = asked_lease_ms(job);
    if (root != job->hold) {
        strcpy(facts->number, root->facts.number);
        strcpy(facts->owner, root->facts.owner);
        level = root->level_count + 1;
        if (facts->lease_ms < root->facts.lease_ms)
            facts->lease_ms = root->facts.lease_ms;
    } else {
        dlock_holds_renumber(job->hold);
        memcpy(facts->owner, job->sys->uuid, DLOCK_UUID_LEN);
        facts->owner[DLOCK_UUID_LEN] = ':';
        strcpy(facts->owner + DLOCK_UUID_LEN + 1,
               job->place.asks ? job->place.number : facts->number);
    }
    dlock_token_make(facts->token);
    job->claim = dlock_claim_of(job->sys, facts, level);
    prepare_wait(job);
}

/* Make one attempt.  Before the thread goes on with a grant of a new era, the holds of
 * earlier eras are marked as lost. */
static dlock_status send(struct acquiring *job)
{
    dlock_status st;

    prepare(job);
    job->hold->facts.era = dlock_era_of(job->sys, job->hold->facts.key.name);
    job->claim.sent_ns = dlock_clock_ns();
    st = job->sys->variant->try_acquire(job->sys->state, &job->claim);
    if (dlock_era_look(job->sys))
        dlock_watchdog_expect(atomic_load(&job->sys->watchdog), 0);
    return st;
}

/* Was the level granted inside a hold that was found lost meanwhile?  The owner was
 * told of the loss, so the level is given back, as if the store had answered LOST. */
static bool is_inside_lost_hold(struct acquiring *job)
{
    struct dlock_hold *root = atomic_load(&job->hold->root);

    if (job->claim.level == 1 ||
        dlock_holds_is_held(job->sys->holds, root, root->serial))
        return false;
    clean_up(job);
    return true;
}

/* Record that a message woke the waiter since the last attempt. */
static void record_wake(struct acquiring *job)
{
    if (job->waiting->wake_count == job->wake_count)
        return;
    job->wake_count = job->waiting->wake_count;
    dlock_recording_mark(job->sys, DLOCK_EVENT_WAKE, &job->claim, 1, 0);
}

static dlock_status attempt(void *arg, int64_t *free_in_ms)
{
    struct acquiring *job = arg;
    dlock_status st;

    record_wake(job);
    doubts_settle(&job->doubts, job->sys);
    dlock_debts_pay_name(job->sys, job->hold->facts.key.name);
    st = send(job);
    if (st == DLOCK_OK && is_inside_lost_hold(job)) {
        st = DLOCK_LOST;
    } else if (st == DLOCK_OK && dlock_era_is_over(job->sys, &job->hold->facts)) {
        clean_up(job); /* which server has granted it is not known */
        st = send(job);
    }
    if (st == DLOCK_LOST && job->claim.level > 1) {
        dlock_holds_split(job->sys->holds, job->hold);
        dlock_watchdog_expect(atomic_load(&job->sys->watchdog), 0);
        st = send(job);
    }
    *free_in_ms = job->claim.free_in_ms;
    job->was_late = st == DLOCK_OK && dlock_lease_end_ns(job->sys, job->claim.lease_ms,
                                                         job->claim.sent_ns) <= dlock_clock_ns();
    if (job->was_late || st == DLOCK_UNKNOWN || st == DLOCK_PROTOCOL) {
        clean_up(job);
    } else if (st == DLOCK_BUSY && job->until_ns != 0 && !job->has_waited) {
        job->has_waited = true;
        dlock_recording_mark(job->sys, DLOCK_EVENT_WAIT, &job->claim, DLOCK_WAIT_BEGUN, 0);
    }
    job->in_vain = job->in_vain || job->was_late || job->claim.gave_back;
    return job->was_late ? DLOCK_BUSY : st;
}

/* Release a grant that came too late or after a cancel. */
static dlock_status give_back(struct acquiring *job)
{
    dlock_status st = job->sys->variant->release(job->sys->state, &job->claim);

    if (!dlock_is_failure(st))
        return DLOCK_CANCELLED;
    note_doubt(job, st);
    part(job);
    return dlock_fail(DLOCK_CANCELLED, "the lock was granted, and its release failed: %s",
                      dlock_status_text(st));
}

/* Ask the store until it answers.  An attempt that is not OK leaves nothing behind. */
static dlock_status ask(struct acquiring *job)
{
    const dlock_variant *variant = job->sys->variant;
    struct dlock_waiting waiting = {
        .variant = variant,
        .state = job->sys->state,
        .claim = &job->claim,
        .retry = &job->sys->retry,
        .cancel = job->request->cancel,
        .until_ns = job->until_ns,
        .attempt = attempt,
        .arg = job,
    };
    dlock_status st;

    job->waiting = &waiting;
    st = dlock_wait(&waiting);
    job->waiting = NULL;

    dlock_metrics_add(&job->sys->metrics, DLOCK_METRIC_wake_ups, waiting.wake_count);
    dlock_metrics_add(&job->sys->metrics, DLOCK_METRIC_useless_wake_ups,
                      waiting.useless_wake_count);
    if (st == DLOCK_OK && dlock_cancel_is_fired(job->request->cancel))
        return give_back(job);
    if ((st == DLOCK_TIMEOUT || st == DLOCK_CANCELLED) && waiting.try_count > 0 &&
        variant->leave != NULL)
        variant->leave(job->sys->state, &job->claim);
    if (job->was_late && (st == DLOCK_BUSY || st == DLOCK_TIMEOUT))
        return dlock_fail(DLOCK_TIMEOUT,
                          "granted only after the lease of %d ms had run out",
                          job->claim.lease_ms);
    return doubts_answer(&job->doubts, job->sys, st);
}

/* ---- the place in the line of the process: handover.h ---- */

/* Take the lock that the last holder handed over to this thread.  If the lease has
 * ended by now, the thread asks the store instead. */
static void place_take(dlock_system *sys, struct dlock_place *place, dlock_claim *claim)
{
    struct dlock_hold *hold = place->hold;
    const struct dlock_gift *gift = &place->gift;

    if (gift->deadline_ns <= dlock_clock_ns()) {
        dlock_handover_ask_anew(sys->handover, place);
        return;
    }
    dlock_holds_renumber(hold);
    strcpy(hold->facts.owner, gift->owner);
    dlock_token_make(hold->facts.token);
    hold->facts.note = gift->note;
    hold->facts.era = gift->era;
    hold->facts.lease_ms = sys->opts.lease_ms;
    hold->renew_at_ns = gift->renew_at_ns;
    atomic_store(&hold->deadline_ns, gift->deadline_ns);
    *claim = dlock_claim_of(sys, &hold->facts, 1);
    place->is_given = true;
}

/* Join the line of place->hold, and wait for its turn.  Only a request that waits, has the system's
 * lease and is not an inner level stands in the line of its process; for others the answer is OK at
 * once.
 *   OK         if place->is_given, the thread has the lock, and *claim and the gift describe it;
 *              otherwise the caller asks the store
 *   TIMEOUT, CANCELLED, NOMEM   as dlock_acquire_with() */
static dlock_status place_wait(dlock_system *sys, struct dlock_place *place,
                               const dlock_request *request, dlock_claim *claim)
{
    if (sys->handover == NULL || place->until_ns == 0 || request->lease_ms != 0 ||
        atomic_load(&place->hold->root) != place->hold)
        return DLOCK_OK;
    place->cancel = request->cancel;
    switch (dlock_handover_join(sys->handover, place)) {
    case DLOCK_TURN_GIVEN:
        place_take(sys, place, claim);
        return DLOCK_OK;
    case DLOCK_TURN_TIMEOUT:
        return DLOCK_TIMEOUT;
    case DLOCK_TURN_CANCELLED:
        return DLOCK_CANCELLED;
    case DLOCK_TURN_NOMEM:
        return dlock_fail(DLOCK_NOMEM, "no memory for a place in a line");
    default:
        return DLOCK_OK;
    }
}

/* Get the lock from an earlier holder of this process, or from the store. */
static dlock_status obtain(struct acquiring *job)
{
    dlock_status st;

    job->place.hold = job->hold;
    job->place.until_ns = job->until_ns;
    st = place_wait(job->sys, &job->place, job->request, &job->claim);
    if (st == DLOCK_OK && !job->place.is_given)
        st = ask(job);
    else if (job->place.is_given && dlock_cancel_is_fired(job->request->cancel))
        st = dlock_handover_pass(job->sys->handover, job->hold, false) ? DLOCK_CANCELLED
                                                                       : give_back(job);
    if (st != DLOCK_OK && (job->place.asks || job->place.is_given))
        dlock_handover_end(job->sys->handover, job->hold, false); /* the next one asks the store */
    return st;
}

/* Put a granted hold into the table of holds, and fill in the caller's lease. */
static void keep(struct acquiring *job, dlock_lease *lease)
{
    dlock_system *sys = job->sys;
    struct dlock_hold *root = atomic_load(&job->hold->root);
    bool watched = wants_watchdog(job);
    int64_t deadline_ns =
        dlock_lease_end_ns(sys, job->claim.lease_ms, job->claim.sent_ns);
    int64_t renew_at_ns =
        dlock_renew_due_ns(sys, job->claim.lease_ms, job->claim.sent_ns);

    job->hold->is_in_line = job->place.asks || job->place.is_given;
    if (job->place.asks)
        dlock_handover_granted(sys->handover, &job->place, job->claim.sent_ns);
    if (job->place.is_given) {
        dlock_metrics_add(&sys->metrics, DLOCK_METRIC_local_grants, 1);
        deadline_ns = job->place.gift.deadline_ns;
        renew_at_ns = job->place.gift.renew_at_ns;
    }
    DLOCK_FAULT(BEFORE_WATCH, job->claim.name);
    job->hold->facts.note = job->claim.note;
    job->hold->facts.fence = job->claim.fence;
    dlock_lease_fill(lease, &job->claim, deadline_ns,
                     dlock_holds_grant(sys->holds, job->hold, deadline_ns, renew_at_ns,
                                       watched));
    if (dlock_era_is_over(sys, &job->hold->facts)) /* an earlier check for lost holds
                                                    * may have missed this one */
        dlock_holds_lose(sys->holds, root, root->serial, true);
    dlock_watchdog_expect(atomic_load(&sys->watchdog),
                          watched ? renew_at_ns : deadline_ns);
}

static dlock_status check(const dlock_system *sys, const char *name,
                          const dlock_request *request, const dlock_lease *lease)
{
    dlock_status st = dlock_system_check(sys);

    if (st == DLOCK_OK)
        st = dlock_name_check(name);
    if (st == DLOCK_OK && lease == NULL)
        st = dlock_fail(DLOCK_INVALID, "there is no lease to fill in");
    return st == DLOCK_OK ? dlock_request_check(&sys->variant->info, request) : st;
}

static void count(struct acquiring *job, dlock_status st, const struct dlock_spent *before)
{
    struct dlock_tally *metrics = &job->sys->metrics;

    dlock_metrics_acquire(metrics, st);
    dlock_metrics_spent(metrics, DLOCK_METRIC_acquire_commands, before);
    if (st == DLOCK_OK)
        dlock_metrics_wait(metrics, job->answered_ns - job->begun_ns);
}

static dlock_status acquire(struct acquiring *job, const char *name, dlock_lease *lease)
{
    dlock_system *sys = job->sys;
    const dlock_request *request = job->request;
    dlock_claim asked = {.name = name, .shared = request->shared, .level = 1};
    uint64_t call;
    dlock_status st;

    if (dlock_cancel_is_fired(request->cancel))
        return DLOCK_CANCELLED;
    job->hold = dlock_holds_begin(sys->holds, name, request->shared);
    if (job->hold == NULL)
        return dlock_fail(DLOCK_NOMEM, "no memory for a hold");
    if (request->wait_ms < 0)
        job->until_ns = INT64_MAX;
    else if (request->wait_ms > 0)
        job->until_ns = dlock_clock_after(dlock_clock_ns(), request->wait_ms);
    asked.number = dlock_owner_here()->number;
    asked.lease_ms = asked_lease_ms(job);
    call = dlock_recording_begin(sys, DLOCK_EVENT_ACQUIRE, &asked, request->wait_ms,
                                 job->begun_ns);
    job->hold->recorded = call;
    st = obtain(job);
    doubts_end(&job->doubts, sys, st);
    job->answered_ns = dlock_clock_ns();
    if (st == DLOCK_OK && job->place.is_given)
        dlock_recording_end_given(sys, call, &job->claim, job->place.gift.deadline_ns,
                                  job->answered_ns);
    else
        dlock_recording_end(sys, call, st,
                            job->claim.name != NULL ? &job->claim : &asked, job->claim.sent_ns,
                            st == DLOCK_OK || (st == DLOCK_TIMEOUT && job->in_vain),
                            job->answered_ns);
    if (st == DLOCK_OK)
        keep(job, lease);
    else
        dlock_holds_abandon(sys->holds, job->hold);
    return st;
}

dlock_status dlock_acquire_with(dlock_system *sys, const char *name,
                                const dlock_request *request, dlock_lease *lease)
{
    DLOCK_PUT_OFF_CANCEL;
    struct acquiring job = {
        .sys = sys, .request = request, .begun_ns = dlock_clock_ns()};
    struct dlock_spent before = dlock_spent_here();
    dlock_status st;

    dlock_error_clear();
    st = check(sys, name, request, lease);
    if (st != DLOCK_OK)
        return st;
    st = acquire(&job, name, lease);
    count(&job, st, &before);
    return st;
}

dlock_status dlock_acquire(dlock_system *sys, const char *name, int64_t wait_ms,
                           dlock_lease *lease)
{
    return dlock_acquire_with(sys, name, &(dlock_request){.wait_ms = wait_ms}, lease);
}
