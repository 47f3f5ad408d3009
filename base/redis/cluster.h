/* SPDX-License-Identifier: MIT */
/* cluster.h -- a thread that asks the nodes of a Redis Cluster who has which slot, and what is
 * known of that (cluster_map.h).
 *
 * The thread asks one node after the other, one in a second, at once after redis_cluster_doubt(), and
 * ten in a second for a while after that or while a master seems to have failed.
 *
 * Only for this room.
 *
 * Threads     Any; `changed` is called by the thread of the cluster. */
#ifndef BASE_REDIS_CLUSTER_H
#define BASE_REDIS_CLUSTER_H

#include "base/redis/cluster_map.h"
#include "base/redis/outcome.h"

struct redis_cluster;

/* Begin to ask the nodes of `url`, which is copied.  `changed` is called with `arg` after slots
 * came to other nodes.  NULL: no memory, event or thread. */
struct redis_cluster *redis_cluster_open(const struct redis_url *url, void (*changed)(void *arg),
                                         void *arg);

/* Stop the thread, in which `changed` is not called any more.  NULL is fine. */
void redis_cluster_close(struct redis_cluster *cluster);

/* Wait until a node has told of the cluster.  False: none has until `until_ns`; `why` says what
 * the last one that was asked has said instead. */
bool redis_cluster_await(struct redis_cluster *cluster, int64_t until_ns,
                         char why[REDIS_WHY_SIZE]);

/* The URL of the node that has the slot; of any node with slots if `slot` is below 0.  False: no
 * node has it, as far as is known. */
bool redis_cluster_find(struct redis_cluster *cluster, int slot, struct redis_url *out);

/* The URL of the node at that place.  Its certificate has to have the name that the node announces, if it
 * does and the cluster's URL has no server-name. */
void redis_cluster_url(struct redis_cluster *cluster, const struct redis_place *place,
                       struct redis_url *out);

/* If a node announces the name in `place`, which a redirect may have, replace it by the address under
 * which the map has this node. */
void redis_cluster_know(struct redis_cluster *cluster, struct redis_place *place);

/* Does the node at that place have the slot, or any slot if `slot` is below 0? */
bool redis_cluster_has(struct redis_cluster *cluster, const struct redis_place *place, int slot);

/* What is known seems to be old: ask again now, first the node at `place` unless it is NULL. */
void redis_cluster_doubt(struct redis_cluster *cluster, const struct redis_place *place);

/* The number of promotions that were seen, plus 1; 0: nothing is known yet.  The second counts
 * those of one slot. */
uint64_t redis_cluster_era(const struct redis_cluster *cluster);
uint64_t redis_cluster_slot_era(const struct redis_cluster *cluster, int slot);

#endif /* BASE_REDIS_CLUSTER_H */
