/* SPDX-License-Identifier: MIT */
/* subscription.h -- one connection and one thread that listen on any number of
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

#include "base/redis/channels.h"
#include "base/redis/url.h"

struct redis_subscription;

/* Does not connect yet.  NULL: no memory, or no event. */
struct redis_subscription *redis_subscription_new(const struct redis_url *url,
                                                  int timeout_ms);

/* The same for one node of a cluster: it hears what is published by SPUBLISH, and only on channels
 * whose slots the node has.  `elsewhere`: see channels.h. */
struct redis_subscription *redis_subscription_new_sharded(
    const struct redis_url *url, int timeout_ms,
    struct redis_channels *(*elsewhere)(void *arg, const char *name), void *arg);

/* A subscription that leaves each channel to that of one of several servers. */
struct redis_subscription_router {
    /* The subscription of the server that has the channel.  NULL: none is known. */
    struct redis_subscription *(*pick)(void *routes, const char *channel);
    /* As redis_subscription_tell(), for all of them. */
    void (*tell)(void *routes, bool (*tell)(void *arg, const char *channel), void *arg);
    void (*close)(void *routes);
};

/* NULL: no memory, and nothing was closed. */
struct redis_subscription *redis_subscription_new_routed(
    const struct redis_subscription_router *router, void *routes);

/* The channels of one server, listened to from now on.  NULL: no thread. */
struct redis_channels *redis_subscription_channels(struct redis_subscription *sub);

/* From the first waiter on call `tell` with every message's channel, under a mutex: an answer
 * that is true says that somebody elsewhere goes on by the message, so that not one waiter
 * has to be woken by a rule for which one is enough. */
void redis_subscription_tell(struct redis_subscription *sub,
                             bool (*tell)(void *arg, const char *channel), void *arg);

/* Does the server count this process among those that it tells of a message on that
 * channel?  As far as it has answered. */
bool redis_subscription_listens(struct redis_subscription *sub, const char *channel);

/* Stop the thread.  Nobody waits any more. */
void redis_subscription_close(struct redis_subscription *sub);

/* Begin to wait on a channel.  If it is subscribed to already, the first sleep ends at
 * once, otherwise when it is: the caller looks again after it cannot miss a message any
 * more.  NULL: no memory or no thread. */
struct redis_waiter *redis_subscription_join(struct redis_subscription *sub,
                                             const char *channel,
                                             struct redis_wake wake);

#endif /* DLOCK_REDIS_SUBSCRIPTION_H */
