/* SPDX-License-Identifier: MIT */
/* watchdog.c -- the thread that renews the holds of a system and finds those that were
 * lost.
 *
 * The watchdog finds what is due in the table of holds (dlock_holds_due()), so no caller
 * has to register a hold: dlock_holds_grant() puts a root into the table before the
 * acquire returns, and dlock_holds_release() takes the root out before the release is
 * sent.  The answer of a renewal is dropped if the hold was released meanwhile.
 *
 * Renewals are due a third of a lease after the last successful request was sent; after
 * a failure much sooner.  All renewals that are due leave together, at most ROUND_MAX at
 * a time, and those that have been due for the longest time first.  Each is a fiber of
 * the watchdog's loop (base/os/loop.h), so a renewal that waits for a hung server delays
 * neither the others nor the report of a loss.  A variant whose client library would
 * block the thread has renew_all instead, which renews the holds of one server together,
 * in a thread of its own for each round.
 *
 * The name of a server is resolved by the C library when a connection is made, and this
 * blocks the watchdog.  A renewal has another connection than the calls of threads, so it
 * may arrive after the release that was sent later: then it finds another token, or
 * prolongs the next hold of the same thread.
 *
 * A renewal is given up at the deadline of its hold.  The more renewals are under way,
 * the sooner each is given up, down to SHARE_MIN_MS, so that a hung server does not keep
 * the places of the holds of other servers.  renew_all is given up at the latest deadline
 * of its holds, so that one short lease does not end the renewals of the others, and the
 * store's timeout ends it if that comes first.  The request of a renewal that was given up
 * stays under way, and may still prolong the lease in the store. */
#include "lock/watchdog.h"

#include <errno.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <utlist.h>

#include "base/os/clock.h"
#include "base/os/event.h"
#include "base/os/loop.h"
#include "base/os/thread.h"
#include "lock/era.h"
#include "lock/fault.h"
#include "lock/lease.h"
#include "lock/lost.h"
#include "lock/process.h"
#include "lock/recording.h"
#include "lock/status.h"

enum {
    ROUND_MAX = 1024,    /* the most renewals under way                       */
    WAITED_FOR_MAX = 16, /* the same if replicas have to acknowledge each, because
                          * each then has a connection of its own             */
    LOSSES_MAX = 32,     /* the most losses reported between two readings of
                          * the table                                         */
    RETRY_DIVISOR = 20,  /* the lease by this is the pause after a failed renewal,
                          * from RETRY_MIN_MS to RETRY_MAX_MS                 */
    RETRY_MIN_MS = 5,
    RETRY_MAX_MS = 500,
    SHARE_MIN_MS = 100,  /* the shortest time for one renewal               */
    ERA_EVERY_MS = 50,   /* between two checks for a fail-over of the store */
};

/* One renewal, from the look that found it due to its end. */
struct renewal {
    struct dlock_job job; /* the first */
    struct dlock_caller caller;
    struct dlock_watchdog *watchdog;
    struct dlock_hold *root;
    uint64_t serial;
    int64_t deadline_ns;
    size_t places;                 /* that were free when it was found           */
    struct dlock_hold_facts facts; /* a copy, since the owner may reuse the slot at any
                                    * time */
    struct renewal *prev, *next;
};

struct dlock_watchdog {
    dlock_system *sys;
    struct dlock_thread thread;
    struct dlock_loop *loop;
    atomic_bool stopping;
    _Atomic int64_t wake_at_ns;
    atomic_bool is_told;        /* `wake` is posted                           */
    struct dlock_post wake, round_moved, stop;

    /* Only the thread uses the fields below. */
    struct dlock_owner owner;   /* the thread as the owner of its fibers      */
    size_t count, most;         /* renewals under way, and how many may be    */
    struct renewal *round;      /* those that were found, and are to begin; those of
                                 * renew_all stay until it has ended          */
    struct dlock_thread sender; /* runs renew_all for the round               */
    size_t lost_count;
    dlock_lease lost[LOSSES_MAX];
    enum dlock_loss losses[LOSSES_MAX];
};

#define WATCHDOG_OF(post, member)                                                      \
    ((struct dlock_watchdog *)(void *)((char *)(post) -                                \
                                       offsetof(struct dlock_watchdog, member)))

static int64_t earlier(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

/* ---- what is due ---- */

/* For dlock_holds_due(), as the next function. */
static bool take_loss(struct dlock_hold *root, void *arg)
{
    struct dlock_watchdog *watchdog = arg;
    dlock_claim claim = dlock_claim_of(watchdog->sys, &root->facts, 1);

    if (watchdog->lost_count == LOSSES_MAX)
        return false;
    dlock_hold_mark_lost(root, true, DLOCK_LOSS_EXPIRED);
    root->untold = false;
    root->counted = true;
    dlock_recording_mark(watchdog->sys, DLOCK_EVENT_LOST, &claim, 0, 0);
    watchdog->losses[watchdog->lost_count] = root->loss;
    claim.fence = root->facts.fence;
    dlock_lease_fill(&watchdog->lost[watchdog->lost_count++], &claim, root->lost_deadline_ns,
                     atomic_load(&root->id));
    return true;
}

/* Has the thread of the owner ended?  Its lock cannot be released then: the watchdog lets
 * its lease end.  A lock of a session has no lease, and is probed until the session is
 * closed. */
static bool has_owner_ended(const dlock_system *sys, const struct dlock_hold *root)
{
    return sys->variant->probe == NULL && dlock_life_has_ended(root->life);
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

static bool take_renewal(struct dlock_hold *root, void *arg)
{
    struct dlock_watchdog *watchdog = arg;
    struct renewal *renewal;

    if (watchdog->count == watchdog->most)
        return false;
    root->is_in_round = true;
    if (has_owner_ended(watchdog->sys, root))
        return true;
    renewal = malloc(sizeof(*renewal));
    if (renewal == NULL) {
        root->is_in_round = false;
        root->renew_at_ns = retry_at_ns(root->facts.lease_ms);
        return true;
    }
    renewal->watchdog = watchdog;
    renewal->root = root;
    renewal->serial = root->serial;
    renewal->deadline_ns = atomic_load(&root->deadline_ns);
    renewal->places = watchdog->most - watchdog->count;
    renewal->facts = root->facts;
    DL_APPEND(watchdog->round, renewal);
    watchdog->count++;
    return true;
}

/* ---- renewals ---- */

/* Note how a renewal that was sent at `sent_ns` ended. */
static void renewal_settle(const struct renewal *renewal, dlock_status st, int64_t sent_ns)
{
    dlock_system *sys = renewal->watchdog->sys;
    int lease_ms = renewal->facts.lease_ms;
    int64_t next_ns = st == DLOCK_OK ? dlock_renew_due_ns(sys, lease_ms, sent_ns)
                                     : retry_at_ns(lease_ms);

    if (st == DLOCK_OK)
        dlock_holds_renewed(sys->holds, renewal->root, renewal->serial,
                            dlock_lease_end_ns(sys, lease_ms, sent_ns), next_ns);
    else if (st == DLOCK_LOST)
        dlock_holds_lose(sys->holds, renewal->root, renewal->serial, true);
    else
        dlock_holds_retry_at(sys->holds, renewal->root, renewal->serial, next_ns);
    dlock_watchdog_expect(renewal->watchdog, st == DLOCK_LOST ? 0 : next_ns);
}

/* Pass the fault point.  False: the hold is to be left alone, since it has ended, or the
 * renewal failed here. */
static bool renewal_may_send(const struct renewal *renewal)
{
    dlock_fault_action action =
        DLOCK_FAULT_ASK(DLOCK_FAULT_WATCHDOG_TICK, renewal->facts.key.name);

    if (!dlock_holds_is_held(renewal->watchdog->sys->holds, renewal->root, renewal->serial))
        return false;
    if (action == DLOCK_FAULT_FAIL)
        renewal_settle(renewal, DLOCK_IO, 0);
    return action != DLOCK_FAULT_FAIL;
}

static int64_t renewal_give_up_ns(const struct renewal *renewal)
{
    int64_t now_ns = dlock_clock_ns();
    int64_t share_ns = (renewal->deadline_ns - now_ns) / (int64_t)renewal->watchdog->most *
                       (int64_t)renewal->places;

    if (share_ns < SHARE_MIN_MS * DLOCK_NS_PER_MS)
        share_ns = SHARE_MIN_MS * DLOCK_NS_PER_MS;
    return earlier(renewal->deadline_ns, now_ns + share_ns);
}

/* In the fiber; in the thread, if the variant has `probe`, which does not wait. */
static void renewal_run(struct dlock_job *job)
{
    const struct renewal *renewal = (struct renewal *)(void *)job;
    dlock_system *sys = renewal->watchdog->sys;
    dlock_claim claim = dlock_claim_of(sys, &renewal->facts, 1);
    dlock_status st;
    int64_t sent_ns;

    if (!renewal_may_send(renewal))
        return;
    sent_ns = dlock_clock_ns();
    if (sys->variant->probe != NULL) {
        st = sys->variant->probe(sys->state, &claim);
    } else {
        claim.give_up_ns = renewal_give_up_ns(renewal);
        dlock_renew_claims(sys, false, &claim, 1, &st);
    }
    renewal_settle(renewal, st, sent_ns);
}

static void renewal_end(struct dlock_job *job)
{
    struct dlock_watchdog *watchdog = ((struct renewal *)(void *)job)->watchdog;

    free(job);
    if (watchdog->count-- == watchdog->most)
        dlock_watchdog_expect(watchdog, 0);
}

/* Begin the renewals of the round, each in a fiber.  In a turn of the loop. */
static void round_start(struct dlock_post *post)
{
    struct dlock_watchdog *watchdog = WATCHDOG_OF(post, round_moved);
    struct renewal *renewal, *next;

    watchdog->owner = *dlock_owner_here();
    DL_FOREACH_SAFE(watchdog->round, renewal, next) {
        renewal->job = (struct dlock_job){
            .run = renewal_run, .ended = renewal_end, .local = &renewal->caller, .is_inner = true};
        renewal->caller.owner = &watchdog->owner;
        if (dlock_job_start(watchdog->loop, &renewal->job))
            continue;
        renewal_settle(renewal, DLOCK_NOMEM, 0);
        renewal_end(&renewal->job);
    }
    watchdog->round = NULL;
}

static void round_end(struct dlock_watchdog *watchdog)
{
    struct renewal *renewal, *next;

    DL_FOREACH_SAFE(watchdog->round, renewal, next)
        renewal_end(&renewal->job);
    watchdog->round = NULL;
}

/* Probe the sessions of the round, which does not wait. */
static void round_probe(struct dlock_watchdog *watchdog)
{
    struct renewal *renewal;

    DL_FOREACH(watchdog->round, renewal)
        renewal_run(&renewal->job);
    round_end(watchdog);
}

/* Renew the round by renew_all.  In the thread `sender`. */
static void *round_renew(void *arg)
{
    struct dlock_watchdog *watchdog = arg;
    const struct renewal *sent[DLOCK_RENEW_ALL_MAX];
    dlock_claim claims[DLOCK_RENEW_ALL_MAX];
    dlock_status statuses[DLOCK_RENEW_ALL_MAX];
    int64_t sent_ns, give_up_ns = 0;
    struct renewal *renewal;
    size_t count = 0;

    dlock_process_enter(watchdog->sys->process);
    DL_FOREACH(watchdog->round, renewal) {
        if (!renewal_may_send(renewal))
            continue;
        claims[count] = dlock_claim_of(watchdog->sys, &renewal->facts, 1);
        sent[count++] = renewal;
        if (renewal->deadline_ns > give_up_ns)
            give_up_ns = renewal->deadline_ns;
    }
    for (size_t i = 0; i < count; i++)
        claims[i].give_up_ns = give_up_ns;
    sent_ns = dlock_clock_ns();
    if (count > 0)
        dlock_renew_claims(watchdog->sys, true, claims, count, statuses);
    for (size_t i = 0; i < count; i++)
        renewal_settle(sent[i], statuses[i], sent_ns);
    dlock_loop_post(watchdog->loop, &watchdog->round_moved);
    return NULL;
}

/* The thread `sender` has ended the round.  In a turn of the loop. */
static void round_sent(struct dlock_post *post)
{
    struct dlock_watchdog *watchdog = WATCHDOG_OF(post, round_moved);

    dlock_thread_join(&watchdog->sender);
    round_end(watchdog);
    dlock_watchdog_expect(watchdog, 0);
}

/* Begin renew_all for the round. */
static void round_send(struct dlock_watchdog *watchdog)
{
    const struct renewal *renewal;

    if (dlock_thread_start(&watchdog->sender, round_renew, watchdog) == 0)
        return;
    DL_FOREACH(watchdog->round, renewal)
        renewal_settle(renewal, DLOCK_NOMEM, 0);
    round_end(watchdog);
}

/* ---- the thread ---- */

/* Report the losses and begin the renewals that are due.  Returns when to look again. */
static int64_t watchdog_look(struct dlock_watchdog *watchdog)
{
    dlock_system *sys = watchdog->sys;
    int64_t end_ns, renewal_ns, now_ns, era_ns = INT64_MAX;

    (void)dlock_era_look(sys);
    do {
        watchdog->lost_count = 0;
        now_ns = dlock_clock_ns();
        end_ns = dlock_holds_due(sys->holds, DLOCK_DUE_END, now_ns, take_loss, watchdog);
        dlock_lost_tell(sys, watchdog->lost, watchdog->losses, watchdog->lost_count);
    } while (watchdog->lost_count == LOSSES_MAX);
    if (dlock_era(sys) != 0)
        era_ns = now_ns + ERA_EVERY_MS * DLOCK_NS_PER_MS;
    if (watchdog->round != NULL) /* its end wakes the thread */
        return earlier(era_ns, end_ns);
    renewal_ns = dlock_holds_due(sys->holds, DLOCK_DUE_RENEWAL, now_ns, take_renewal, watchdog);
    if (watchdog->round == NULL)
        ;
    else if (sys->variant->renew_all != NULL)
        round_send(watchdog);
    else if (sys->variant->probe != NULL)
        round_probe(watchdog);
    else
        dlock_loop_post(watchdog->loop, &watchdog->round_moved);
    if (watchdog->count == watchdog->most)
        renewal_ns = INT64_MAX; /* the end of a renewal wakes the thread */
    return earlier(era_ns, earlier(end_ns, renewal_ns));
}

/* Wake at `at_ns` or earlier.  False: the thread wakes no later anyway. */
static bool watchdog_set_wake(struct dlock_watchdog *watchdog, int64_t at_ns)
{
    int64_t wake_at_ns = atomic_load(&watchdog->wake_at_ns);

    while (at_ns < wake_at_ns)
        if (atomic_compare_exchange_weak(&watchdog->wake_at_ns, &wake_at_ns, at_ns))
            return true;
    return false;
}

static void *run(void *arg)
{
    struct dlock_watchdog *watchdog = arg;

    dlock_process_enter(watchdog->sys->process);
    while (!atomic_load(&watchdog->stopping) || watchdog->count > 0 ||
           atomic_load(&watchdog->is_told)) {
        if (!atomic_load(&watchdog->stopping) &&
            dlock_clock_ns() >= atomic_load(&watchdog->wake_at_ns)) {
            /* While the watchdog looks, wake_at_ns is INT64_MAX.  So a thread that is
             * granted a lock meanwhile wakes the watchdog, which would otherwise sleep
             * until what it has found. */
            atomic_store(&watchdog->wake_at_ns, INT64_MAX);
            (void)watchdog_set_wake(watchdog, watchdog_look(watchdog));
        }
        dlock_loop_turn(watchdog->loop, atomic_load(&watchdog->stopping)
                                            ? INT64_MAX
                                            : atomic_load(&watchdog->wake_at_ns));
    }
    return NULL;
}

static void watchdog_end_wake(struct dlock_post *post)
{
    struct dlock_watchdog *watchdog = WATCHDOG_OF(post, wake);

    atomic_store(&watchdog->is_told, false);
}

static void watchdog_end(struct dlock_post *post)
{
    struct dlock_watchdog *watchdog = WATCHDOG_OF(post, stop);

    atomic_store(&watchdog->stopping, true);
}

struct dlock_watchdog *dlock_watchdog_start(dlock_system *sys)
{
    struct dlock_watchdog *watchdog = calloc(1, sizeof(*watchdog));

    if (watchdog == NULL)
        return NULL;
    watchdog->sys = sys;
    watchdog->most = sys->variant->renew_all != NULL      ? (size_t)DLOCK_RENEW_ALL_MAX
                     : sys->opts.replicas_acknowledge > 0 ? (size_t)WAITED_FOR_MAX
                                                          : (size_t)ROUND_MAX;
    watchdog->wake.run = watchdog_end_wake;
    watchdog->round_moved.run = sys->variant->renew_all != NULL ? round_sent : round_start;
    watchdog->stop.run = watchdog_end;
    watchdog->loop = dlock_loop_new();
    if (watchdog->loop != NULL && dlock_thread_start(&watchdog->thread, run, watchdog) == 0)
        return watchdog;
    dlock_loop_free(watchdog->loop);
    free(watchdog);
    return NULL;
}

void dlock_watchdog_stop(struct dlock_watchdog *watchdog)
{
    if (watchdog == NULL)
        return;
    dlock_loop_post(watchdog->loop, &watchdog->stop);
    dlock_thread_join(&watchdog->thread);
    dlock_loop_free(watchdog->loop);
    free(watchdog);
}

void dlock_watchdog_expect(struct dlock_watchdog *watchdog, int64_t at_ns)
{
    if (watchdog != NULL && !atomic_load(&watchdog->stopping) &&
        watchdog_set_wake(watchdog, at_ns) &&
        !atomic_exchange(&watchdog->is_told, true))
        dlock_loop_post(watchdog->loop, &watchdog->wake);
}

/* ---- the descriptor of losses ---- */

/* Make the descriptor.  Returns its number plus 1; 0: the call failed, and
 * dlock_error() has the reason.  The caller holds sys->starting. */
static int lost_open_fd(dlock_system *sys)
{
    unsigned caps = sys->variant->info.caps;
    int fd = dlock_event_open();

    if (fd < 0) {
        (void)dlock_fail(DLOCK_IO, "no event can be made: %s", strerror(errno));
        return 0;
    }
    atomic_store(&sys->lost_fd_plus_1, fd + 1);
    if (atomic_load(&sys->watchdog) != NULL ||
        !(caps & (DLOCK_CAP_EXPIRES | DLOCK_CAP_SESSION)))
        return fd + 1; /* without a watchdog no loss is noticed */
    atomic_store(&sys->watchdog, dlock_watchdog_start(sys));
    if (atomic_load(&sys->watchdog) != NULL)
        return fd + 1;
    atomic_store(&sys->lost_fd_plus_1, 0);
    dlock_event_close(fd);
    (void)dlock_fail(DLOCK_NOMEM, "the watchdog's thread cannot be started");
    return 0;
}

int dlock_lost_fd(dlock_system *sys)
{
    DLOCK_PUT_OFF_CANCEL;
    int fd_plus_1;

    dlock_error_clear();
    if (dlock_system_check(sys) != DLOCK_OK)
        return -1;
    dlock_mutex_lock(&sys->starting);
    fd_plus_1 = atomic_load(&sys->lost_fd_plus_1);
    if (fd_plus_1 == 0)
        fd_plus_1 = lost_open_fd(sys);
    dlock_mutex_unlock(&sys->starting);
    return fd_plus_1 - 1;
}
