/* SPDX-License-Identifier: MIT */
/* cluster_routes.h -- the links to the nodes of a Redis Cluster, and the link for each slot.
 *
 * Only for cluster_links.c.
 *
 * Threads     Any, but for open and close. */
#ifndef BASE_REDIS_CLUSTER_ROUTES_H
#define BASE_REDIS_CLUSTER_ROUTES_H

#include <stdatomic.h>

#include "base/os/mutex.h"
#include "base/redis/cluster.h"
#include "base/redis/link.h"
#include "base/redis/sharded_text.h"

struct redis_node_link;

struct redis_routes {
    char label[REDIS_HOST_MAX + 16]; /* of the URL */
    struct redis_cluster *cluster;
    int timeout_ms;
    bool slow_is_down;
    /* A cache: the link for each slot; NULL: ask the map.  An entry may be out of date:
     * then the node answers MOVED, and the entry is corrected. */
    struct redis_link *_Atomic slots[REDIS_SLOT_COUNT];
    struct dlock_mutex mutex;
    struct redis_node_link *nodes; /* under the mutex; a link stays until the close */
    int node_count;
    struct redis_sharded_texts texts;
};

/* Make routes to the cluster of the nodes of `url`; see redis_cluster_link_new().
 * NULL: no memory, event or thread. */
struct redis_routes *redis_routes_open(const struct redis_url *url, int timeout_ms,
                                       bool slow_is_down);
void redis_routes_close(struct redis_routes *routes);

/* Refresh the map, beginning with the node at `place` unless it is NULL, and count that
 * in the metrics. */
void redis_routes_refresh(struct redis_routes *routes, const struct redis_address *place);

/* The link for `slot`, or for any node with slots if `slot` is below 0.  Waits until
 * `until_ns` for the first map.  NULL: there is no such node yet, and `why` says so. */
struct redis_link *redis_routes_find(struct redis_routes *routes, int slot, int64_t until_ns,
                                     char why[REDIS_WHY_SIZE]);

/* The link to the node that `answer` names; `answer` is MOVED or ASK, from the node of
 * `from`.  NULL: there is no link, and `answer` has the reason.  If the redirect cannot
 * be the answer to a command about `slot`, the node may answer other commands wrongly
 * too, so its connection is cut. */
struct redis_link *redis_routes_follow(struct redis_routes *routes, struct redis_link *from,
                                       int slot, struct redis_answer *answer);

/* The node that was asked for the slot has not answered: refresh the map, and let the
 * next command for this slot use the map. */
void redis_routes_forget(struct redis_routes *routes, int slot);

/* Call `visit` with the link to each node, or with `needed`, to each node that has slots or
 * still owes answers.  Links that are made meanwhile may be left out. */
void redis_routes_visit(struct redis_routes *routes, bool needed,
                        void visit(struct redis_link *link, void *arg), void *arg);

#endif /* BASE_REDIS_CLUSTER_ROUTES_H */
