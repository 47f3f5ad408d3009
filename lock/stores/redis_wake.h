/* SPDX-License-Identifier: MIT */
/* redis_wake.h -- whom a message wakes, of those who wait for a lock or a primitive.
 *
 * Threads     Any. */
#ifndef DLOCK_REDIS_WAKE_H
#define DLOCK_REDIS_WAKE_H

#include "base/redis/channels.h"

/* "1": all; any other: the one that has waited longest, unless a waiter of another process
 * is to have the lock (lock/fair_share.h).  A waiter that leaves without the lock passes its
 * wake-up on. */
extern const struct redis_wake_rule REDIS_WAKE_LOCK;

/* n: the waiters that need no more than n, less the needs of those woken before.  A waiter that
 * leaves passes on the number that it was told: there may be more permits than it took, since
 * the message can be about permits of others. */
extern const struct redis_wake_rule REDIS_WAKE_SEMAPHORE;

/* Any: all.  "0" is an open latch, "1" a deleted one or a new one. */
extern const struct redis_wake_rule REDIS_WAKE_LATCH;

/* A waiter's own channel, which lingers: any message wakes the waiter. */
extern const struct redis_wake_rule REDIS_WAKE_SOLE;

#endif /* DLOCK_REDIS_WAKE_H */
