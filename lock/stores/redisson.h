/* SPDX-License-Identifier: MIT */
/* redisson.h -- the common part of the locks that are compatible with Redisson: the
 * hash at the lock's name, the names of the keys beside it, the scripts, and waiting
 * for messages.
 *
 * The lock is a hash with one field, "uuid:number", that counts the levels; a release
 * may publish 0 on a channel of the lock's.  So this program and a Java program exclude
 * each other on the same lock.
 *
 * Functions that take a `void *` are slots of a dlock_variant, whose state is a
 * struct redisson_lock.
 *
 * Threads     Any, but for open and close. */
#ifndef DLOCK_REDISSON_H
#define DLOCK_REDISSON_H

#include "lock/stores/fence_epochs.h"
#include "lock/stores/redis_inspect.h"
#include "lock/stores/redis_wake.h"
#include "lock/fair_share.h"

#define REDISSON_CHANNEL "redisson_lock__channel"
#define REDISSON_QUEUE "redisson_lock_queue"
#define REDISSON_TIMEOUTS "redisson_lock_timeout"
#define REDISSON_FENCES "redisson_lock_token"
#define REDISSON_FREED "0" /* what a release publishes */

/* Like a channel's name: a prefix and a lock's name. */
enum { REDISSON_NAME_SIZE = REDIS_CHANNEL_MAX + 1 };

struct redisson_lock {
    struct redis_link *link;
    const char *channel; /* the prefix of the channels on which releases are published */
    struct redis_subscription *subscription; /* NULL: no release is published, and no
                                              * waiter listens */
    struct dlock_fair_shares *shares; /* NULL: grants are not shared out */
    struct fence_epochs *epochs; /* NULL: no fences, or fences are counted in Redis
                                  * alone */
    struct redis_script acquire;
    struct redis_script renew;
    struct redis_script release;
};

/* The ways in which a lock's waiters learn of a release. */
enum redisson_waiting {
    REDISSON_POLLS,         /* they ask again after pauses */
    REDISSON_IS_TOLD,       /* they subscribe to a channel */
    REDISSON_SHARES_GRANTS, /* they subscribe, and share the grants with the waiters of
                             * other processes (lock/fair_share.h): for locks without a
                             * queue whose release script answers 1 plus the number of
                             * clients told */
};

/* Open the state of a lock whose scripts have these texts.  Answers as dlock_open();
 * the caller closes *out with redisson_close(). */
dlock_status redisson_open(struct redisson_lock **out, const dlock_options *opts,
                           const char *acquire, const char *release,
                           enum redisson_waiting waiting);
void redisson_close(void *lock);
dlock_status redisson_check(void *lock);
uint64_t redisson_era(void *lock, const char *name);

/* "prefix:{name}", so that this key is in the cluster slot of the key `name`.  If
 * `name` has braces already, no more are added. */
void redisson_name(const char *prefix, const char *name, char out[REDISSON_NAME_SIZE]);

/* OK, or INVALID in a Redis Cluster if `other`, a key or channel of the lock or primitive
 * `name`, is not in the slot of `name` by its text. */
dlock_status redisson_check_slot(const struct redis_link *link, const char *name,
                                 const char *other);

/* The slot try_acquire, by reentrant_acquire.lua. */
dlock_status redisson_acquire(void *lock, dlock_claim *claim);

/* The shape of the answer of that script for the claim's level, and of the answer of
 * reentrant_release.lua. */
const struct redis_shape *redisson_acquire_shape(const dlock_claim *claim);
const struct redis_shape *redisson_release_shape(const dlock_claim *claim);

/* The slot try_acquire by another script with the same answers.  Instead of nil this
 * script may answer the fence, a number as text. */
dlock_status redisson_acquire_by(const struct redisson_lock *lock, dlock_claim *claim,
                                 const struct redis_script_call *call);

dlock_status redisson_renew(void *lock, const dlock_claim *claim);

/* The slot release, by reentrant_release.lua.  The script publishes a message if the
 * lock has a subscription. */
dlock_status redisson_release(void *lock, const dlock_claim *claim);

/* The slot release by another script with the same answers. */
dlock_status redisson_release_by(const struct redisson_lock *lock,
                                 const dlock_claim *claim,
                                 const struct redis_script_call *call);

/* The slot read_release, for these scripts. */
dlock_status redisson_read_release(void *lock, const dlock_claim *claim,
                                   const struct redis_answer *answer);

bool redisson_send_queued(void *lock);

void *redisson_watch(void *lock, const dlock_claim *claim);
bool redisson_sleep(void *waiter, int64_t until_ns);
void redisson_unwatch(void *waiter, bool granted);

/* The slots inspect and force.  For a lock with a queue, the waiters are counted in the
 * queue; for other locks, by the subscriptions to the lock's channel. */
dlock_status redisson_inspect(void *lock, const char *name, dlock_info *out);
dlock_status redisson_force(void *lock, const char *name);

/* The script calls of these two slots.  They fill in *keys, which has to live as long
 * as the call.  `kind` is "queue" or "channel"; `channel` is "" if no message is
 * published. */
struct redisson_keys {
    char queue[REDISSON_NAME_SIZE];
    char timeouts[REDISSON_NAME_SIZE];
    char fences[REDISSON_NAME_SIZE];
};
struct redis_script_call redisson_inspect_call(const char *name, const char *kind,
                                               const char *channel,
                                               struct redisson_keys *keys);
struct redis_script_call redisson_force_call(const char *name, const char *kind,
                                             const char *channel,
                                             struct redisson_keys *keys);

#endif /* DLOCK_REDISSON_H */
