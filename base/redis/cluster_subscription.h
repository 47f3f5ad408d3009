/* SPDX-License-Identifier: MIT */
/* cluster_subscription.h -- one subscription to a Redis Cluster, made of a subscription
 * to each master that has the slot of a channel.
 *
 * A channel belongs to the node that has its slot.  When the slot gets another node, by
 * a move or a promotion, the waiters are woken, and from their next sleep on they wait
 * at the new node.
 *
 * Threads     As subscription.h. */
#ifndef BASE_REDIS_CLUSTER_SUBSCRIPTION_H
#define BASE_REDIS_CLUSTER_SUBSCRIPTION_H

#include "base/redis/subscription.h"

/* Make a subscription to the cluster of the nodes of `url`, without connecting.  It is
 * used and closed like any subscription.  NULL: no memory, event or thread. */
struct redis_subscription *redis_cluster_subscription_new(const struct redis_url *url,
                                                          int timeout_ms);

#endif /* BASE_REDIS_CLUSTER_SUBSCRIPTION_H */
