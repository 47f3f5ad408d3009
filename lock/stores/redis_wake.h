/* SPDX-License-Identifier: MIT */
/* redis_wake.h -- the rules that decide which waiters for a lock or a primitive a
 * message wakes.
 *
 * Threads     Any. */
#ifndef DLOCK_REDIS_WAKE_H
#define DLOCK_REDIS_WAKE_H

#include "base/redis/channels.h"

/* The message "1" wakes all waiters.  Any other message wakes the waiter that has
 * waited longest, unless the lock is left to another process (lock/fair_share.h).  A
 * waiter that leaves without the lock passes its wake-up on. */
extern const struct redis_wake_rule REDIS_WAKE_LOCK;

/* The message n says that n permits came free.  It wakes waiters one after another, as
 * long as the sum of the permits that they need is at most n.  A waiter that leaves
 * passes n on, because the message may be about more permits than it took. */
extern const struct redis_wake_rule REDIS_WAKE_SEMAPHORE;

/* Any message wakes all waiters.  "0": the latch is open; "1": it was deleted or set
 *            anew. */
extern const struct redis_wake_rule REDIS_WAKE_LATCH;

/* For a channel that one waiter has alone, and that stays subscribed for a while after
 * it: any message wakes the waiter. */
extern const struct redis_wake_rule REDIS_WAKE_SOLE;

#endif /* DLOCK_REDIS_WAKE_H */
