/* SPDX-License-Identifier: MIT */
/* dlock_variant.h -- the contract for people who write a variant.
 *
 * A variant is one file in lock/variants/ that defines one const dlock_variant, and one
 * line in variants.def.  It says how to try once, how to give back, and what it can
 * promise.  Everything else lives once in the core: argument checks, owner ids, tokens,
 * waiting, deadlines, the watchdog, cleaning up after unanswered requests, levels of
 * re-entry, error text.
 *
 * Every slot is MUST or MAY.  dlock_variant_flaw() checks that, and the conformance
 * suite proves every bit of `info.caps`.
 *
 * Threads     Every slot but open and close is called by many threads at once.
 */
#ifndef DLOCK_VARIANT_H
#define DLOCK_VARIANT_H

#include "lock/dlock.h"
#include "lock/status.h"

struct redis_answer;
struct redis_post;

/* A request for a lock.  The core fills it in; a variant may write only the fields
 * marked "out".  The strings outlive the call and no longer. */
typedef struct dlock_claim {
    const char *name;
    const char *uuid;   /* of the system: 36 characters, lower case                   */
    const char *number; /* of the thread: decimal, unique in the process, not reused  */
    const char *owner;  /* "uuid:number"                                              */
    const char *token;  /* new for every attempt                                      */
    int lease_ms;       /* of this hold, which may differ from the options'        */
    bool shared;        /* as a reader; only with DLOCK_CAP_SHARED.  A thread that reads
                         * and writes is one owner, with levels of each            */
    int level;          /* 1, or n for the nth level of a re-entrant hold             */
    int64_t give_up_ns; /* no I/O after this instant; INT64_MAX: the stores' timeouts */
    uint64_t fence;     /* out of try_acquire, iff DLOCK_CAP_FENCED                   */
    int64_t free_in_ms; /* out of a BUSY try_acquire: when the holder's lease ends;
                         * stays -1 if unknown                                        */
    uint64_t note;      /* out of try_acquire: comes back in every later slot         */
    int64_t wait_until_ns;  /* above 0: the caller tries again after BUSY until then */
    int64_t store_until_ns; /* above 0: try_acquire MAY wait in its store until then  */
    bool waited;            /* out of a BUSY try_acquire: it waited in its store all the
                             * time that it may, so no pause is needed               */
    struct redis_post *post; /* of a release, only with read_release: nobody waits for
                              * the answer; see there.  Otherwise NULL               */
} dlock_claim;

typedef struct dlock_variant {
    dlock_variant_info info; /* MUST: every text, and the caps */

    /* MUST be above 0 iff DLOCK_CAP_EXPIRES: how much of a lease is given up for clocks
     * that drift apart, in thousandths; the core takes off 2 ms more. */
    int drift_per_mille;

    /* MAY, only with renew: the watchdog renews its leases. */
    bool watched;

    /* MAY, only with DLOCK_CAP_EXPIRES: its leases are never longer, whatever the
     * options ask for.  0: no limit. */
    int lease_limit_ms;

    /* MAY, only without DLOCK_CAP_PUSH: the longest sleep between two attempts with the
     * policy `push`; it begins with 1 ms and doubles.  0: 50 ms. */
    int poll_max_ms;

    /* MAY: release frees whoever's lock it finds, so the core must not use it to clean
     * up after an acquire that went unanswered. */
    bool blind_release;

    /* MAY, only with FAIR, OWNED and EXPIRES, without FENCED, SHARED and SESSION: claim->owner
     * alone tells the store whose a lock is, so a hold can go on in another thread under
     * the same owner; see handover.h. */
    bool may_be_handed_over;

    /* MAY.  Check the options, reach the stores, load scripts.  The uuid is that of the
     * claims to come.  On failure it leaves nothing behind and *state NULL. */
    dlock_status (*open)(const dlock_options *opts, void **state);

    /* MUST iff open.  No other slot runs any more. */
    void (*close)(void *state);

    /* MAY.  Ask every store once whether it answers. */
    dlock_status (*check)(void *state);

    /* MUST.  One attempt; sleeps only in its store, see store_until_ns.  OK, BUSY, or a
     * failure; LOST iff level > 1 and the store no longer knows the outer levels.  After
     * BUSY, LOST and IO nothing of this claim is left anywhere, but for a place in the
     * queue if it waits; after UNKNOWN and PROTOCOL the core calls release.  Sent twice
     * with the same claim it must count once. */
    dlock_status (*try_acquire)(void *state, dlock_claim *claim);

    /* MUST iff DLOCK_CAP_RENEW.  Make the lease end lease_ms from now.  OK, LOST, or a
     * failure. */
    dlock_status (*renew)(void *state, const dlock_claim *claim);

    /* MUST iff DLOCK_CAP_SESSION.  Is the session that holds the claim still there?  OK
     * or LOST, at once and without asking the store.  The watchdog calls it, also while
     * the owner's thread is in release, and so does dlock_lease_valid(), in any thread. */
    dlock_status (*probe)(void *state, const dlock_claim *claim);

    /* MUST.  Give back the level claim->level and keep those below it.  OK, LOST, or a
     * failure.  After an acquire that went unanswered it is called for a level that may
     * not exist, and must then change nothing but give up the claim's place in the queue
     * if it has one. */
    dlock_status (*release)(void *state, const dlock_claim *claim);

    /* MAY, with OWNED, ATOMIC, check and one Redis, without SHARED, where a release is one
     * script: a release whose claim has a `post` queues its request with that, and answers OK without waiting, or
     * a failure if it queued nothing.  read_release is handed the store's answer, and says
     * what release would have answered: OK or LOST.  Any thread that uses the store calls
     * it: it must not ask the store, nor call dlock_fail().  The core gives a thread a new
     * number after such a release, so that one that comes late meets no later hold. */
    dlock_status (*read_release)(void *state, const dlock_claim *claim,
                                 const struct redis_answer *answer);

    /* MUST iff read_release.  Send what is queued, without waiting.  False: it cannot leave
     * now; check() sees to that. */
    bool (*send_queued)(void *state);

    /* All three MUST iff DLOCK_CAP_PUSH.
     * watch    be told of releases of the claim's name from now on, where it matters to
     *          this claim; NULL if that cannot be
     * sleep    until one may have happened since the last sleep (or since watch), which
     *          is true, or until_ns, false.  Waking too often is allowed, missing one is
     *          not.
     * unwatch  `granted`: this waiter got the lock */
    void *(*watch)(void *state, const dlock_claim *claim);
    bool (*sleep)(void *watch, int64_t until_ns);
    void (*unwatch)(void *watch, bool granted);

    /* MUST iff DLOCK_CAP_FAIR.  The claim waited in vain: give up its place in the
     * queue.  Not called after a failure, which may have taken as long as a store is
     * waited for: then release gives up the place, or it ends by itself. */
    void (*leave)(void *state, const dlock_claim *claim);

    /* MUST, as is force, iff DLOCK_CAP_LOCAL; MAY without.  What the store knows of the
     * lock of that name: *out is a free lock, of which nothing is known, and OK says
     * that it was filled in. */
    dlock_status (*inspect)(void *state, const char *name, dlock_info *out);

    /* Free it, whoever holds it, and tell a waiter.  OK, LOST if nobody held it,
     * or a failure. */
    dlock_status (*force)(void *state, const char *name);
} dlock_variant;

/* The variants, in the order of variants.def. */
extern const dlock_variant *const dlock_variants[];

/* NULL if `variant` keeps the contract above, otherwise what is wrong with it. */
const char *dlock_variant_flaw(const dlock_variant *variant);

#endif /* DLOCK_VARIANT_H */
