/* SPDX-License-Identifier: MIT */
/* redis_subscription.h -- one connection and one thread that listen on any number of
 * channels for any number of waiting threads.
 *
 * The thread starts with the first waiter.  A channel is subscribed to while somebody
 * waits on it.  Whom a message wakes is the channel's rule.  After the connection was
 * lost, every channel is subscribed to again, and then all its waiters are woken, since
 * messages may have been missed.
 *
 * Threads     Any; a waiter belongs to one thread. */
#ifndef DLOCK_REDIS_SUBSCRIPTION_H
#define DLOCK_REDIS_SUBSCRIPTION_H

#include "lock/dlock.h"
#include "lock/turns.h"

struct redis_subscription;
struct redis_waiter;

enum { REDIS_CHANNEL_MAX = 319 };

/* Whom a message wakes.  All waiters of a channel come with the same rule. */
enum redis_wake_rule {
    REDIS_WAKE_LOCK,      /* "1": all; any other: the one that has waited longest */
    REDIS_WAKE_SEMAPHORE, /* n: who needs no more than n, the needs of those before
                           * them taken off; those who need more are passed over */
    REDIS_WAKE_LATCH,     /* "0": all; any other: nobody */
    REDIS_WAKE_SOLE,      /* one waiter's own channel: any wakes it.  It stays subscribed
                           * to for a moment after the waiter has left, so that one who
                           * soon waits again need not ask twice; a message that came
                           * meanwhile wakes it at once */
};

struct redis_wake {
    enum redis_wake_rule rule;
    int64_t need; /* of a semaphore's permits */
};

/* Does not connect yet.  INVALID, NOMEM. */
dlock_status redis_subscription_open(struct redis_subscription **out, const char *url,
                                     int timeout_ms);

/* Tell `turns` of every release that is heard of on a channel with the rule LOCK, from
 * the first waiter on.  `turns` lives as long as the subscription. */
void redis_subscription_take_turns(struct redis_subscription *sub,
                                   struct dlock_turns *turns);

/* Does the server count this process among those that it tells of a message on that
 * channel?  As far as it has answered. */
bool redis_subscription_listens(struct redis_subscription *sub, const char *channel);

/* Stop the thread.  Nobody waits any more. */
void redis_subscription_close(struct redis_subscription *sub);

/* Begin to wait on a channel.  If it is subscribed to already, the first sleep ends at
 * once, otherwise when it is: the caller looks again after it cannot miss a message any
 * more.  NULL: no memory or no thread. */
struct redis_waiter *redis_subscription_join(struct redis_subscription *sub,
                                             const char *channel);

/* The same by another rule than that of locks. */
struct redis_waiter *redis_subscription_join_by(struct redis_subscription *sub,
                                                const char *channel,
                                                struct redis_wake wake);

/* The number in the last message of the waiter's channel since it began to wait and,
 * if the connection was lost, since that is back; -1: there was none. */
int64_t redis_waiter_heard(struct redis_waiter *waiter);

/* Sleep until woken, which is true, or until `until_ns`. */
bool redis_waiter_sleep(struct redis_waiter *waiter, int64_t until_ns);

/* Stop waiting.  `satisfied`: the waiter got what it waited for; otherwise a wake-up
 * that it did not use goes to the next. */
void redis_waiter_leave(struct redis_waiter *waiter, bool satisfied);

#endif /* DLOCK_REDIS_SUBSCRIPTION_H */
