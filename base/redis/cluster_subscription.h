/* SPDX-License-Identifier: MIT */
/* cluster_subscription.h -- one subscription to a Redis Cluster, which has a subscription to each
 * master that has the slot of a channel.
 *
 * A channel goes with its slot.  When the slot has come to another node, by a move or a promotion, the
 * waiters are woken, and wait on there from their next sleep on.
 *
 * Threads     As subscription.h. */
#ifndef BASE_REDIS_CLUSTER_SUBSCRIPTION_H
#define BASE_REDIS_CLUSTER_SUBSCRIPTION_H

#include "base/redis/subscription.h"

/* A subscription to the cluster that the nodes of `url` belong to; does not connect.  It is used and
 * closed as any.  NULL: no memory, event or thread. */
struct redis_subscription *redis_cluster_subscription_new(const struct redis_url *url,
                                                          int timeout_ms);

#endif /* BASE_REDIS_CLUSTER_SUBSCRIPTION_H */
