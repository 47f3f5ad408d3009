/* SPDX-License-Identifier: MIT */
/* cluster.h -- a thread that asks the nodes of a Redis Cluster for the owners of the
 * slots, and keeps the map (cluster_map.h).
 *
 * The thread asks the nodes in turn, one each second.  After redis_cluster_doubt() it
 * asks at once.  For a while after that, and while a master seems to have failed, it
 * asks ten nodes each second.
 *
 * Only for base/redis/.
 *
 * Threads     Any; `changed` is called by the thread of the cluster. */
#ifndef BASE_REDIS_CLUSTER_H
#define BASE_REDIS_CLUSTER_H

#include "base/redis/cluster_map.h"
#include "base/redis/outcome.h"

struct redis_cluster;

/* Start the thread, which asks the nodes of `url`; the URL is copied.  The thread calls
 * `changed` with `arg` after slots have got other owners.  NULL: no memory, event or
 * thread. */
struct redis_cluster *redis_cluster_open(const struct redis_url *url, void (*changed)(void *arg),
                                         void *arg);

/* Stop the thread and free the map.  `changed` is not called any more.  NULL is
 * fine. */
void redis_cluster_close(struct redis_cluster *cluster);

/* Has no node described the cluster yet, and has each node of the URL refused for good, as for a
 * wrong password? */
bool redis_cluster_refuses(struct redis_cluster *cluster);

/* Wait until a node has described the cluster.  False: no node has until `until_ns`, or
 * the nodes refuse; `why` has the reason of the node that was asked last. */
bool redis_cluster_await(struct redis_cluster *cluster, int64_t until_ns,
                         char why[REDIS_WHY_SIZE]);

/* The URL of the node that has the slot; of any node with slots if `slot` is below 0.
 * False: the map has no such node. */
bool redis_cluster_find(struct redis_cluster *cluster, int slot, struct redis_url *out);

/* The URL of the node at that place.  With TLS, the certificate must have the
 * server-name of the cluster's URL, or else the name that the node announces, if it
 * does. */
void redis_cluster_url(struct redis_cluster *cluster, const struct redis_address *place,
                       struct redis_url *out);

/* A redirect may name a node by the host name that the node announces.  If `place` has
 * such a name, replace it by the node's address in the map. */
void redis_cluster_know(struct redis_cluster *cluster, struct redis_address *place);

/* Does the node at that place have the slot, or any slot if `slot` is below 0? */
bool redis_cluster_has(struct redis_cluster *cluster, const struct redis_address *place, int slot);

/* The map may be out of date: ask the nodes now, first the node at `place` unless it is
 * NULL. */
void redis_cluster_doubt(struct redis_cluster *cluster, const struct redis_address *place);

/* 1 plus the number of promotions that the map has seen; 0: no node has described the
 * cluster yet.  The second counts the promotions of one slot. */
uint64_t redis_cluster_era(const struct redis_cluster *cluster);
uint64_t redis_cluster_slot_era(const struct redis_cluster *cluster, int slot);

#endif /* BASE_REDIS_CLUSTER_H */
