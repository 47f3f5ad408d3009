/* SPDX-License-Identifier: MIT */
/* subscription.h -- one connection and one thread that listen on many channels for many
 * waiting threads.
 *
 * The thread starts with the first waiter.  A channel is subscribed to while a thread
 * waits on it.  The channel's rule (wake_rule.h) decides which waiters a message wakes.
 * After a loss of the connection every channel is subscribed to again, and then all its
 * waiters are woken, because messages may have been missed.
 *
 * Threads     Any; a waiter belongs to one thread. */
#ifndef DLOCK_REDIS_SUBSCRIPTION_H
#define DLOCK_REDIS_SUBSCRIPTION_H

#include "base/redis/channels.h"
#include "base/redis/url.h"

struct redis_subscription;

/* Make a subscription, without connecting.  NULL: no memory, or no event. */
struct redis_subscription *redis_subscription_new(const struct redis_url *url,
                                                  int timeout_ms);

/* The same for one node of a cluster: it gets messages of SPUBLISH, on channels whose
 * slots the node has.  `elsewhere`: see channels.h. */
struct redis_subscription *redis_subscription_new_sharded(
    const struct redis_url *url, int timeout_ms,
    struct redis_channels *(*elsewhere)(void *arg, const char *name), void *arg);

/* The functions of a subscription that passes each channel to the subscription of one
 * of several servers. */
struct redis_subscription_router {
    /* The subscription of the server that has the channel.  NULL: none is known. */
    struct redis_subscription *(*pick)(void *routes, const char *channel);
    /* As redis_subscription_tell(), for all servers. */
    void (*tell)(void *routes, bool (*tell)(void *arg, const char *channel), void *arg);
    void (*close)(void *routes);
};

/* Make a subscription of this router; closing it calls the router's close().  NULL: no
 * memory, and close() was not called. */
struct redis_subscription *redis_subscription_new_routed(
    const struct redis_subscription_router *router, void *routes);

/* The channels of a subscription to one server.  Starts the thread if it does not run
 * yet.  NULL: no thread. */
struct redis_channels *redis_subscription_channels(struct redis_subscription *sub);

/* From now on call `tell` with the channel of every message, under a mutex.  Must come
 * before the first waiter.  If `tell` answers true, another thread reacts to the
 * message, so a rule that wakes one waiter need not wake any. */
void redis_subscription_tell(struct redis_subscription *sub,
                             bool (*tell)(void *arg, const char *channel), void *arg);

/* Has the server confirmed the subscription to the channel, so that a PUBLISH counts
 * this process as a receiver? */
bool redis_subscription_listens(struct redis_subscription *sub, const char *channel);

/* Stop the thread and free the subscription.  No thread waits any more. */
void redis_subscription_close(struct redis_subscription *sub);

/* Begin to wait on a channel.  The first sleep ends at once if the channel is
 * subscribed to, and otherwise when it is.  So the caller asks the store once more at a
 * time at which it cannot miss a message any more.  NULL: no memory or no thread. */
struct redis_waiter *redis_subscription_join(struct redis_subscription *sub,
                                             const char *channel,
                                             struct redis_wake wake);

#endif /* DLOCK_REDIS_SUBSCRIPTION_H */
