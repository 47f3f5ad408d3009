/* SPDX-License-Identifier: MIT */
/* redis_subscription.h -- one connection and one thread that listen on any number of
 * channels for any number of waiting threads.
 *
 * The thread starts with the first waiter.  A channel is subscribed to while somebody
 * waits on it.  The message "1" wakes all waiters of its channel; any other wakes the
 * one that has waited longest.  After the connection was lost, every channel is
 * subscribed to again, and then all its waiters are woken, since messages may have been
 * missed.
 *
 * Threads     Any; a waiter belongs to one thread. */
#ifndef DLOCK_REDIS_SUBSCRIPTION_H
#define DLOCK_REDIS_SUBSCRIPTION_H

#include "lock/dlock.h"

struct redis_subscription;
struct redis_waiter;

enum { REDIS_CHANNEL_MAX = 319 };

/* Does not connect yet.  INVALID, NOMEM. */
dlock_status redis_subscription_open(struct redis_subscription **out, const char *url,
                                     int timeout_ms);

/* Stop the thread.  Nobody waits any more. */
void redis_subscription_close(struct redis_subscription *sub);

/* Begin to wait on a channel.  If it is subscribed to already, the first sleep ends at
 * once, otherwise when it is: the caller looks again after it cannot miss a message any
 * more.  NULL: no memory or no thread. */
struct redis_waiter *redis_subscription_join(struct redis_subscription *sub,
                                             const char *channel);

/* Sleep until woken, which is true, or until `until_ns`. */
bool redis_waiter_sleep(struct redis_waiter *waiter, int64_t until_ns);

/* Stop waiting.  `satisfied`: the waiter got what it waited for; otherwise a wake-up
 * that it did not use goes to the next. */
void redis_waiter_leave(struct redis_waiter *waiter, bool satisfied);

#endif /* DLOCK_REDIS_SUBSCRIPTION_H */
