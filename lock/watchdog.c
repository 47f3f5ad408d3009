/* SPDX-License-Identifier: MIT */
/* watchdog.c -- the thread that renews the holds of a system and finds those that were
 * lost.
 *
 * The watchdog reads the table of holds, so no caller has to register a hold:
 * dlock_holds_grant() puts a root into the table before the acquire returns, and
 * dlock_holds_release() takes the root out before the release is sent.  The answer of a
 * renewal is dropped if the hold was released meanwhile.
 *
 * Renewals are due a third of a lease after the last successful request was sent; after
 * a failure much sooner.  A renewal waits at most until the earliest deadline of all
 * holds, so that one hung server does not delay the report of another loss.  Until then
 * every hold that is due has an equal share of the time, so that a server that hangs
 * does not take the leases of holds of other servers: a renewal that has used up its
 * share is given up, and counts as failed.  The request of that renewal stays under way,
 * and may still prolong the lease in the store.  A share is not shorter than
 * SHARE_MIN_MS, unless the earliest deadline is nearer, because a renewal by a slow but
 * healthy store would otherwise be given up.  So one hung server may still take short
 * leases of many holds.  The hold that has been due for the longest time is renewed
 * first, and a hold whose renewal failed therefore comes after those that were not
 * tried. */
#include "lock/watchdog.h"

#include <stdatomic.h>
#include <stdlib.h>

#include "base/os/condition.h"
#include "base/os/clock.h"
#include "lock/era.h"
#include "lock/fault.h"
#include "lock/lease.h"
#include "lock/lost.h"
#include "lock/process.h"
#include "lock/recording.h"
#include "lock/renew.h"
#include "base/os/thread.h"

enum {
    BATCH = 32,          /* the most holds renewed and losses reported between two
                          * readings of the table                             */
    RETRY_DIVISOR = 20,  /* the lease by this is the pause after a failed renewal,
                          * from RETRY_MIN_MS to RETRY_MAX_MS                 */
    RETRY_MIN_MS = 5,
    RETRY_MAX_MS = 500,
    SHARE_MIN_MS = 100,  /* the shortest time for one renewal               */
    ERA_EVERY_MS = 50,   /* between two checks for a fail-over of the store */
};

/* One reading of the table. */
struct look {
    const dlock_system *sys;
    int64_t now_ns;
    int64_t next_ns;      /* when the next work is due                */
    int64_t deadline_ns;  /* the earliest                             */
    size_t all_due_count; /* of the table                             */
    size_t due_count;     /* of the batch                             */
    struct due {          /* by renew_at_ns, the earliest first       */
        struct dlock_hold *root;
        uint64_t serial;
        int64_t renew_at_ns;
        struct dlock_hold_facts facts; /* a copy, since the owner may reuse the slot at
                                        * any time */
    } due[BATCH];
    size_t lost_count;
    dlock_lease lost[BATCH];
    enum dlock_loss losses[BATCH];
};

struct dlock_watchdog {
    dlock_system *sys;
    struct dlock_thread thread;
    struct dlock_mutex mutex;
    struct dlock_condition wake;
    bool stopping;              /* under the mutex           */
    _Atomic int64_t wake_at_ns; /* written under the mutex   */
    struct look look;           /* the thread's, not shared  */
};

static int64_t earlier(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

/* With the shard locked. */
static void note_loss(struct look *look, struct dlock_hold *root)
{
    dlock_claim claim = dlock_claim_of(look->sys, &root->facts, 1);

    root->untold = false;
    root->counted = true;
    dlock_recording_mark(look->sys, DLOCK_EVENT_LOST, &claim, 0, 0);
    look->losses[look->lost_count] = root->loss;
    dlock_lease_fill(&look->lost[look->lost_count++], &claim, 0,
                     atomic_load(&root->id));
}

/* Has the thread of the owner ended?  Its lock cannot be released then: the watchdog lets
 * its lease end.  A lock of a session has no lease, and is probed until the session is
 * closed. */
static bool has_owner_ended(const dlock_system *sys, const struct dlock_hold *root)
{
    return sys->variant->probe == NULL && dlock_life_has_ended(root->life);
}

/* Put a hold into the batch, which keeps those that have been due for the longest time. */
static void note_due(struct look *look, struct dlock_hold *root)
{
    size_t place = look->due_count;

    look->all_due_count++;
    if (place < BATCH)
        look->due_count++;
    else if (look->due[--place].renew_at_ns <= root->renew_at_ns)
        return;
    for (; place > 0 && look->due[place - 1].renew_at_ns > root->renew_at_ns; place--)
        look->due[place] = look->due[place - 1];
    look->due[place] = (struct due){
        .root = root,
        .serial = root->serial,
        .renew_at_ns = root->renew_at_ns,
        .facts = root->facts,
    };
}

/* A full batch leaves losses and renewals to the next reading, but no deadline. */
static void look_at(struct dlock_hold *root, void *arg)
{
    struct look *look = arg;
    int64_t deadline_ns = atomic_load(&root->deadline_ns);

    if (root->state == DLOCK_HOLD_HELD && deadline_ns <= look->now_ns)
        dlock_hold_mark_lost(root, true, DLOCK_LOSS_EXPIRED);
    if (root->state == DLOCK_HOLD_LOST) {
        if (look->lost_count < BATCH)
            note_loss(look, root);
        return;
    }
    look->deadline_ns = earlier(look->deadline_ns, deadline_ns);
    look->next_ns = earlier(look->next_ns, deadline_ns);
    if (root->watched_count == 0 || has_owner_ended(look->sys, root))
        return;
    if (root->renew_at_ns > look->now_ns)
        look->next_ns = earlier(look->next_ns, root->renew_at_ns);
    else
        note_due(look, root);
}

static int64_t retry_at_ns(int lease_ms)
{
    int64_t pause_ms = lease_ms / RETRY_DIVISOR;

    if (pause_ms < RETRY_MIN_MS)
        pause_ms = RETRY_MIN_MS;
    if (pause_ms > RETRY_MAX_MS)
        pause_ms = RETRY_MAX_MS;
    return dlock_clock_after(dlock_clock_ns(), pause_ms);
}

/* Until when may the renewal of the batch's hold at `place` wait? */
static int64_t share_end_ns(const struct look *look, size_t place)
{
    int64_t now_ns = dlock_clock_ns();
    int64_t share_ns = (look->deadline_ns - now_ns) / (int64_t)(look->all_due_count - place);

    if (share_ns < SHARE_MIN_MS * DLOCK_NS_PER_MS)
        share_ns = SHARE_MIN_MS * DLOCK_NS_PER_MS;
    return earlier(look->deadline_ns, now_ns + share_ns);
}

/* Renew one hold.  `give_up_ns`: by then the next loss has to be reported, or another
 * hold has its turn. */
static void renew(struct dlock_watchdog *watchdog, const struct due *due, int64_t give_up_ns)
{
    dlock_system *sys = watchdog->sys;
    dlock_claim claim = dlock_claim_of(sys, &due->facts, 1);
    dlock_fault_action action;
    int64_t sent_ns;
    dlock_status st;

    action = DLOCK_FAULT_ASK(DLOCK_FAULT_WATCHDOG_TICK, due->facts.key.name);
    if (!dlock_holds_is_held(sys->holds, due->root, due->serial))
        return;
    claim.give_up_ns = give_up_ns;
    sent_ns = dlock_clock_ns();
    st = action == DLOCK_FAULT_FAIL  ? DLOCK_IO
         : sys->variant->probe != NULL ? sys->variant->probe(sys->state, &claim)
                                       : dlock_renew_claim(sys, &claim);
    if (st == DLOCK_OK)
        dlock_holds_renewed(sys->holds, due->root, due->serial,
                            dlock_lease_end_ns(sys, claim.lease_ms, sent_ns),
                            dlock_renew_due_ns(sys, claim.lease_ms, sent_ns));
    else if (st == DLOCK_LOST)
        dlock_holds_lose(sys->holds, due->root, due->serial, true);
    else
        dlock_holds_retry_at(sys->holds, due->root, due->serial,
                             retry_at_ns(claim.lease_ms));
}

/* Read the table once, report losses, renew the holds that are due: at most a batch of
 * each.  Returns when to read again. */
static int64_t run_once(struct dlock_watchdog *watchdog)
{
    dlock_system *sys = watchdog->sys;
    struct look *look = &watchdog->look;

    (void)dlock_era_look(sys);
    look->now_ns = dlock_clock_ns();
    /* A grant after this point whose renewal is due earlier than next_ns wakes the
     * thread. */
    look->next_ns = dlock_renew_due_ns(sys, sys->opts.lease_ms, look->now_ns);
    if (dlock_era(sys) != 0)
        look->next_ns = earlier(look->next_ns, look->now_ns + ERA_EVERY_MS * DLOCK_NS_PER_MS);
    look->deadline_ns = INT64_MAX;
    look->all_due_count = look->due_count = 0;
    look->lost_count = 0;
    dlock_holds_visit(sys->holds, look_at, look);
    dlock_lost_tell(sys, look->lost, look->losses, look->lost_count);
    if (look->lost_count == BATCH)
        return look->now_ns; /* tell of all losses before a renewal that may hang */
    for (size_t i = 0; i < look->due_count; i++) {
        if (dlock_clock_ns() >= look->deadline_ns)
            break;
        renew(watchdog, &look->due[i], share_end_ns(look, i));
    }
    return look->due_count > 0 ? look->now_ns : look->next_ns;
}

static void *run(void *arg)
{
    struct dlock_watchdog *watchdog = arg;

    dlock_process_enter(watchdog->sys->process);
    dlock_mutex_lock(&watchdog->mutex);
    while (!watchdog->stopping) {
        int64_t next_ns;

        /* While the watchdog works, wake_at_ns is INT64_MAX. So a thread that is
         * granted a lock meanwhile signals the watchdog, which would otherwise sleep
         * until next_ns. */
        atomic_store(&watchdog->wake_at_ns, INT64_MAX);
        dlock_mutex_unlock(&watchdog->mutex);
        next_ns = run_once(watchdog);
        dlock_mutex_lock(&watchdog->mutex);
        if (next_ns < atomic_load(&watchdog->wake_at_ns))
            atomic_store(&watchdog->wake_at_ns, next_ns);
        while (!watchdog->stopping && dlock_clock_ns() < atomic_load(&watchdog->wake_at_ns))
            (void)dlock_condition_wait_until(&watchdog->wake, &watchdog->mutex,
                                             atomic_load(&watchdog->wake_at_ns));
    }
    dlock_mutex_unlock(&watchdog->mutex);
    return NULL;
}

struct dlock_watchdog *dlock_watchdog_start(dlock_system *sys)
{
    struct dlock_watchdog *watchdog = calloc(1, sizeof(*watchdog));

    if (watchdog == NULL)
        return NULL;
    watchdog->sys = sys;
    watchdog->look.sys = sys;
    dlock_mutex_init(&watchdog->mutex);
    if (!dlock_condition_init(&watchdog->wake))
        goto fail_cond;
    if (dlock_thread_start(&watchdog->thread, run, watchdog) != 0)
        goto fail_thread;
    return watchdog;

fail_thread:
    dlock_condition_destroy(&watchdog->wake);
fail_cond:
    dlock_mutex_destroy(&watchdog->mutex);
    free(watchdog);
    return NULL;
}

void dlock_watchdog_stop(struct dlock_watchdog *watchdog)
{
    if (watchdog == NULL)
        return;
    dlock_mutex_lock(&watchdog->mutex);
    watchdog->stopping = true;
    dlock_condition_signal(&watchdog->wake);
    dlock_mutex_unlock(&watchdog->mutex);
    dlock_thread_join(&watchdog->thread);
    dlock_condition_destroy(&watchdog->wake);
    dlock_mutex_destroy(&watchdog->mutex);
    free(watchdog);
}

void dlock_watchdog_expect(struct dlock_watchdog *watchdog, int64_t at_ns)
{
    if (watchdog == NULL || at_ns >= atomic_load(&watchdog->wake_at_ns))
        return;
    dlock_mutex_lock(&watchdog->mutex);
    if (at_ns < atomic_load(&watchdog->wake_at_ns)) {
        atomic_store(&watchdog->wake_at_ns, at_ns);
        dlock_condition_signal(&watchdog->wake);
    }
    dlock_mutex_unlock(&watchdog->mutex);
}
