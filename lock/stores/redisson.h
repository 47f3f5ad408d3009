/* SPDX-License-Identifier: MIT */
/* redisson.h -- what the locks that Redisson has too share: the hash at the lock's
 * name, the names of what lies beside it, the scripts, and waiting for its messages.
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
    struct redis_subscription *subscription; /* NULL: nobody publishes, nobody waits */
    struct dlock_fair_shares *shares; /* NULL: it does not share its grants out */
    struct fence_epochs *epochs; /* NULL: it has no fences, or counts them in Redis alone */
    struct redis_script acquire;
    struct redis_script renew;
    struct redis_script release;
};

/* The ways in which a lock's waiters learn of a release. */
enum redisson_waiting {
    REDISSON_POLLS,         /* they look by themselves */
    REDISSON_IS_TOLD,       /* they subscribe to a channel */
    REDISSON_SHARES_GRANTS, /* they subscribe, and share the grants with the waiters of
                             * other processes (lock/fair_share.h): for locks without a
                             * queue whose release script answers 1 plus the number of
                             * clients told */
};

/* Open the state of a lock whose scripts have these texts. */
dlock_status redisson_open(struct redisson_lock **out, const dlock_options *opts,
                           const char *acquire, const char *release,
                           enum redisson_waiting waiting);
void redisson_close(void *lock);
dlock_status redisson_check(void *lock);
uint64_t redisson_era(void *lock, const char *name);

/* "prefix:{name}", by which it shares the cluster slot of `name`; without braces of its
 * own if there are some in it. */
void redisson_name(const char *prefix, const char *name, char out[REDISSON_NAME_SIZE]);

/* Take the lock by reentrant_acquire.lua. */
dlock_status redisson_acquire(void *lock, dlock_claim *claim);

/* The shape of that script's answer for the claim's level, and of reentrant_release.lua's
 * if it tells anybody. */
const struct redis_shape *redisson_acquire_shape(const dlock_claim *claim);
const struct redis_shape *redisson_release_shape(const dlock_claim *claim);

/* The same by another script that answers like it.  In its place of nil it may answer
 * a number as a text: the fence. */
dlock_status redisson_acquire_by(const struct redisson_lock *lock, dlock_claim *claim,
                                 const struct redis_script_call *call);

dlock_status redisson_renew(void *lock, const dlock_claim *claim);

/* Give it back by reentrant_release.lua; publishes if it `wakes`. */
dlock_status redisson_release(void *lock, const dlock_claim *claim);

/* The same by another script that answers like it. */
dlock_status redisson_release_by(const struct redisson_lock *lock,
                                 const dlock_claim *claim,
                                 const struct redis_script_call *call);

/* A slot: the answer of such a script to a release that nobody waited for. */
dlock_status redisson_read_release(void *lock, const dlock_claim *claim,
                                   const struct redis_answer *answer);

bool redisson_send_queued(void *lock);

void *redisson_watch(void *lock, const dlock_claim *claim);
bool redisson_sleep(void *waiter, int64_t until_ns);
void redisson_unwatch(void *waiter, bool granted);

/* Slots for all of them.  The waiters of a lock with a queue are counted in its queue, those of
 * the other locks by the subscriptions to the lock's channel. */
dlock_status redisson_inspect(void *lock, const char *name, dlock_info *out);
dlock_status redisson_force(void *lock, const char *name);

/* The calls of these; `keys` is filled in, and has to live as long.  `kind` is "queue" or
 * "channel"; `channel` is "" if nobody is told. */
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
