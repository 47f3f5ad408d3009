/* SPDX-License-Identifier: MIT */
/* cluster_map.h -- which node of a Redis Cluster has a slot, out of what several nodes say.
 *
 * Nodes do not learn of a change at the same time.  So the claim of a higher config epoch
 * replaces the known owner of a slot, and a claim of the same or a lower epoch counts only when
 * no node has named the known owner for REDIS_MAP_FORGET_MS.
 *
 * A slot changes its owner in two ways.  It is moved to another master, with its keys: what the
 * master before granted holds.  Or a replica is promoted, which may not have the last keys: what
 * the master before granted cannot be vouched for, and the era of the slot begins anew.  A change
 * that the map cannot explain counts as a promotion.
 *
 * Only for this room.
 *
 * Threads     One at a time, but for the eras. */
#ifndef BASE_REDIS_CLUSTER_MAP_H
#define BASE_REDIS_CLUSTER_MAP_H

#include "base/redis/cluster_view.h"

enum { REDIS_MAP_FORGET_MS = 10000 };

struct redis_map_node {
    struct redis_view_node said; /* last, by any node */
    int64_t named_ns;            /* when a node last named it as the owner of a slot */
    bool is_new;                 /* in the view that is being heard */
};

/* Begins zeroed. */
struct redis_cluster_map {
    bool is_known; /* a view was heard */
    int node_count;
    struct redis_map_node nodes[REDIS_CLUSTER_NODES_MAX];
    int16_t owners[REDIS_SLOT_COUNT];
    _Atomic uint32_t eras[REDIS_SLOT_COUNT]; /* from 1 on; one more with each promotion; any
                                              * thread may read them */
    uint64_t era; /* of the cluster: 1, and one more with each view that shows a promotion */
};

/* A node has said `view` at `now_ns` (base/os/clock.h).  True: a slot has another owner than
 * before, or an owner has another address. */
bool redis_cluster_map_hear(struct redis_cluster_map *map, const struct redis_cluster_view *view,
                            int64_t now_ns);

/* Where the owner of the slot is; NULL: no node has it, or its address is not known. */
const struct redis_place *redis_cluster_map_place(const struct redis_cluster_map *map, int slot);

#endif /* BASE_REDIS_CLUSTER_MAP_H */
