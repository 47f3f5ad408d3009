/* SPDX-License-Identifier: MIT */
/* dlock_variant.h -- the contract for people who write a variant.
 *
 * A variant is one file in lock/variants/ that defines one const dlock_variant, and one
 * line in variants.def.  The variant makes one attempt, gives back, and lists its
 * promises. The core does everything else for all variants: argument checks, owner ids,
 * tokens, waiting, deadlines, the watchdog, cleaning up after unanswered requests,
 * levels of re-entry, error text.
 *
 * A field or function of dlock_variant is called a slot.  Each slot says if a variant
 * MUST or MAY fill it.  dlock_variant_flaw() checks that, and the conformance suite
 * proves every bit of `info.caps`.
 *
 * Threads     Every slot but open and close is called by many threads at once.
 */
#ifndef DLOCK_VARIANT_H
#define DLOCK_VARIANT_H

#include "lock/dlock.h"
#include "lock/status.h"

struct redis_answer;
struct redis_post;

/* A request for a lock.  The core fills in the claim, and a variant writes only the
 * fields marked "out".  The core owns the strings, which are valid only during the
 * call. */
typedef struct dlock_claim {
    const char *name;
    const char *uuid;   /* of the system: 36 characters, lower case                   */
    const char *number; /* of the thread: decimal, unique in the process, not reused  */
    const char *owner;  /* "uuid:number"                                              */
    const char *token;  /* new for every attempt                                      */
    int lease_ms;       /* of this hold, which may differ from the options'           */
    bool shared;        /* as a reader; only with DLOCK_CAP_SHARED.  A thread that reads
                         * and writes is one owner, with levels of each               */
    int level;          /* 1, or n for the nth level of a re-entrant hold             */
    int64_t give_up_ns; /* no I/O after this instant; INT64_MAX: the stores' timeouts
                         * are the only limit                                         */
    uint64_t fence;     /* out of try_acquire, iff DLOCK_CAP_FENCED                   */
    int64_t free_in_ms; /* out of a BUSY try_acquire: the time until the holder's lease
                         * ends; -1, as the core sets it: not known                   */
    uint64_t note;      /* out of try_acquire: the core passes the note to every later
                         * call about this hold                                       */
    int64_t wait_until_ns;  /* above 0: the core tries again after BUSY until then    */
    int64_t store_until_ns; /* above 0: try_acquire MAY wait in its store until then  */
    const dlock_cancel *cancel; /* of the acquire, or NULL: cancel.h                   */
    int64_t sent_ns;        /* the beginning of the attempt, from which its lease counts;
                             * an attempt that sleeps before it asks its store sets it to
                             * the end of that sleep                                  */
    bool waited;            /* out of a BUSY try_acquire: the attempt waited in its store
                             * until store_until_ns, so the core makes no pause       */
    bool gave_back;         /* out of a BUSY try_acquire: the store may have granted the
                             * lock as the wait ended, and the attempt gave it back   */
    struct redis_post *post; /* of a release, only with read_release: the core does not
                              * wait for the answer; see there.  Otherwise NULL      */
} dlock_claim;

enum { DLOCK_RENEW_ALL_MAX = 120 }; /* etcd takes 128 operations in a transaction */

typedef struct dlock_variant {
    dlock_variant_info info; /* MUST: every text, and the caps */

    /* MUST be above 0 iff DLOCK_CAP_EXPIRES: how much of a lease is given up for clocks
     * that drift apart, in thousandths; the core takes off 2 ms more. */
    int drift_per_mille;

    /* MAY, only with renew: the watchdog renews the leases of this variant, by fibers of
     * a loop, or by renew_all. */
    bool watched;

    /* MAY, only with DLOCK_CAP_EXPIRES: the longest lease of this variant, whatever the
     * options ask for.  0: no limit. */
    int lease_limit_ms;

    /* MAY, only without DLOCK_CAP_PUSH: the longest pause between two attempts with the
     * policy `push`.  The first pause is 1 ms, and pauses double.  0: 50 ms. */
    int poll_max_ms;

    /* MAY: release deletes the lock whoever holds it, so the core must not call release
     * to clean up after an unanswered acquire. */
    bool blind_release;

    /* MAY, only with FAIR, OWNED and EXPIRES, without FENCED, SHARED and SESSION: the
     * store knows the holder by claim->owner alone, so another thread can go on with
     * the hold under the same owner; see handover.h. */
    bool may_be_handed_over;

    /* MAY.  Check the options, connect to the stores, load scripts.  On OK *state
     * belongs to the core until close.  On a failure *state is NULL, and nothing is
     * left open. */
    dlock_status (*open)(const dlock_options *opts, void **state);

    /* MUST iff open.  Free *state.  No other slot is called any more. */
    void (*close)(void *state);

    /* MAY.  Ask every store once whether it answers: OK, or a failure. */
    dlock_status (*check)(void *state);

    /* MUST, if another server can take over the store's address, as after a fail-over.
     * Return the era: a number that grows each time another server takes the address
     * over.  The new server may not know what an earlier server granted, so the core
     * counts a hold of an earlier era as lost.  `name`: a lock, where several servers
     * share the names; the answer is then the era of the server that keeps this lock.
     * NULL: the number of changes of all servers.  0: the address always means one
     * server.  Returns at once, without asking the store. */
    uint64_t (*era)(void *state, const char *name);

    /* MUST.  Make one attempt.  The attempt may sleep in its store, see store_until_ns.
     * Before it asks its store, an attempt with wait_until_ns may sleep until then, up to
     * about 10 ms after the cancel was fired.
     *   OK        the claim holds the lock
     *   BUSY      another owner holds the lock
     *   LOST      only if level > 1: the store no longer knows the outer levels
     *   UNKNOWN, PROTOCOL   the core calls release for this claim
     *   IO        no request was sent, or each grant of a node was given back
     * After BUSY, LOST and IO nothing of this claim is left in the store, except its
     * place in a queue while it waits, and what a minority of nodes may have done without
     * an answer.  A claim that arrives twice must count once. */
    dlock_status (*try_acquire)(void *state, dlock_claim *claim);

    /* MUST iff DLOCK_CAP_RENEW.  Let the lease end lease_ms from now: OK; LOST, if the
     * claim does not hold the lock; or a failure. */
    dlock_status (*renew)(void *state, const dlock_claim *claim);

    /* MUST, if `renew` of a watched variant waits otherwise than by base/os/; only with
     * `watched`.  Renew 1 to DLOCK_RENEW_ALL_MAX claims together, with the same give_up_ns:
     * statuses[i] is what renew would have answered for claims[i].  A claim that another
     * request delays in the store must not delay the others: its answer may be IO. */
    void (*renew_all)(void *state, const dlock_claim *claims, size_t count,
                      dlock_status *statuses);

    /* MUST iff DLOCK_CAP_SESSION.  Does the session that holds the lock still exist?
     * OK or LOST, at once and without asking the store.  The watchdog calls probe, also
     * while the owner's thread is in release.  dlock_lease_valid() calls probe in any
     * thread. */
    dlock_status (*probe)(void *state, const dlock_claim *claim);

    /* MUST.  Give back the level claim->level, and keep the levels below it: OK; LOST, if
     * the claim does not hold that level; or a failure.  After an unanswered acquire
     * the core calls release for a level that may not exist.  If the level does not
     * exist, release must change nothing, except that the claim gives up its place in
     * the queue. */
    dlock_status (*release)(void *state, const dlock_claim *claim);

    /* MAY, with OWNED, ATOMIC, check and one Redis, without SHARED, where a release is one
     * script.  If the claim of a release has a `post`, release queues its request with the
     * post, and answers OK without waiting, or a failure if it queued nothing.
     * read_release gets the store's answer, and says what release would have answered: OK
     * or LOST.  Any thread that uses the store calls read_release, so it must neither ask
     * the store nor call dlock_fail().  The core gives a thread a new number after such a
     * release, so that a release that comes late meets no later hold. */
    dlock_status (*read_release)(void *state, const dlock_claim *claim,
                                 const struct redis_answer *answer);

    /* MUST iff read_release.  Send what is queued, without waiting.  False: the requests
     * cannot leave now, and check() makes them leave. */
    bool (*send_queued)(void *state);

    /* MUST, all three, iff DLOCK_CAP_PUSH.
     * watch    begin to listen for releases of the claim's name after which this claim
     *          may be granted; NULL: listening is not possible now, and the core polls
     * sleep    wait for such a release.  True: a release may have happened since the last
     *          sleep, or since watch.  False: until_ns has come.  A wake-up without a
     *          release is allowed; a missed release is not
     * unwatch  stop listening and free the watch; `granted`: this waiter has the lock */
    void *(*watch)(void *state, const dlock_claim *claim);
    bool (*sleep)(void *watch, int64_t until_ns);
    void (*unwatch)(void *watch, bool granted);

    /* MUST iff DLOCK_CAP_FAIR.  Give up the claim's place in the queue, because its
     * wait ended without a grant.  The core does not call leave after a failure, since
     * the store may take its whole timeout again: then release gives up the place, or
     * the place ends by itself. */
    void (*leave)(void *state, const dlock_claim *claim);

    /* inspect and force: MUST iff DLOCK_CAP_LOCAL, and MAY otherwise.  Read what the
     * store knows of the lock `name`.  The core passes a free lock of which nothing is
     * known; the variant fills it in and answers OK, or a failure. */
    dlock_status (*inspect)(void *state, const char *name, dlock_info *out);

    /* Free the lock `name`, whoever holds it, and tell a waiter: OK; LOST, if the lock
     * was free; or a failure. */
    dlock_status (*force)(void *state, const char *name);
} dlock_variant;

/* The variants, in the order of variants.def. */
extern const dlock_variant *const dlock_variants[];

/* The first breach of the contract above, as a static text.  NULL: the variant keeps
 * the contract. */
const char *dlock_variant_flaw(const dlock_variant *variant);

#endif /* DLOCK_VARIANT_H */
