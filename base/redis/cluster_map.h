/* SPDX-License-Identifier: MIT */
/* cluster_map.h -- computes which node of a Redis Cluster has a slot, from the answers
 * of several nodes.
 *
 * Nodes do not learn of a change at the same time.  So the claim of a higher config epoch
 * replaces the known owner of a slot, and a claim of the same or a lower epoch counts only when
 * no node has named the known owner for REDIS_MAP_FORGET_MS.
 *
 * A slot changes its owner in two ways.  If the slot is moved to another master, its
 * keys move too, so earlier grants stay valid.  If a replica is promoted, it may lack
 * the last keys, so earlier grants may be lost, and a new era of the slot begins.  A
 * change that the map cannot explain counts as a promotion.  So does a move of all slots
 * of one master, from one view to the next, to a master that had none: the map cannot
 * tell it from the promotion of a replica whose description is old.
 *
 * Only for base/redis/.
 *
 * Threads     One at a time; any thread may read the eras. */
#ifndef BASE_REDIS_CLUSTER_MAP_H
#define BASE_REDIS_CLUSTER_MAP_H

#include "base/redis/cluster_view.h"

enum { REDIS_MAP_FORGET_MS = 10000 };

struct redis_map_node {
    struct redis_view_node said; /* the last description of this node, by any node */
    int64_t named_ns;            /* when a node last named it as the owner of a slot */
    bool is_new;                 /* first named in the view that is being read */
};

/* Begins zeroed. */
struct redis_cluster_map {
    bool is_known; /* a view was read */
    int node_count;
    struct redis_map_node nodes[REDIS_CLUSTER_NODES_MAX];
    int16_t owners[REDIS_SLOT_COUNT];
    _Atomic uint32_t eras[REDIS_SLOT_COUNT]; /* begin at 1 and grow by 1 with each
                                              * promotion of the slot's owner; any
                                              * thread may read them */
    uint64_t era; /* of the cluster: begins at 1, and grows by 1 with each view that
                   * shows a promotion */
};

/* Update the map with the `view` that a node answered at `now_ns` (base/os/clock.h).
 * True: a slot has another owner than before, or an owner has another address. */
bool redis_cluster_map_hear(struct redis_cluster_map *map, const struct redis_cluster_view *view,
                            int64_t now_ns);

/* The address of the owner of the slot; NULL: no node has the slot, or the address of
 * the owner is not known. */
const struct redis_address *redis_cluster_map_address(const struct redis_cluster_map *map,
                                                      int slot);

#endif /* BASE_REDIS_CLUSTER_MAP_H */
