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
    /* The short way from a slot to a link; NULL: look it up.  An entry may be older than the map:
     * then the node answers MOVED, and the entry is corrected. */
    struct redis_link *_Atomic slots[REDIS_SLOT_COUNT];
    struct dlock_mutex mutex;
    struct redis_node_link *nodes; /* under the mutex; a link stays until the close */
    int node_count;
    struct redis_sharded_texts texts;
};

/* Routes to the cluster that the nodes of `url` belong to; see redis_cluster_link_new().  NULL: no
 * memory, event or thread. */
struct redis_routes *redis_routes_open(const struct redis_url *url, int timeout_ms,
                                       bool slow_is_down);
void redis_routes_close(struct redis_routes *routes);

/* Let the map be asked for anew, first the node at `place` unless it is NULL, and count that. */
void redis_routes_refresh(struct redis_routes *routes, const struct redis_place *place);

/* The link for the slot, or for any if it is below 0, as far as is known until `until_ns`.  NULL:
 * `why` says which is missing. */
struct redis_link *redis_routes_find(struct redis_routes *routes, int slot, int64_t until_ns,
                                     char why[REDIS_WHY_SIZE]);

/* The link to the node that `answer` names, which is MOVED or ASK and comes from the node behind
 * `from`.  NULL: there is none, which `answer` says then.  A node whose redirect cannot be one for a
 * command about `slot` may have lost count of what it was asked, so the connection to it is cut. */
struct redis_link *redis_routes_follow(struct redis_routes *routes, struct redis_link *from,
                                       int slot, struct redis_answer *answer);

/* The node that was asked about the slot has not answered: the next command about it goes by the
 * map again, for which is asked anew. */
void redis_routes_forget(struct redis_routes *routes, int slot);

/* Call `visit` with the link to each node, or to each that has slots.  Links that are made meanwhile
 * may be left out. */
void redis_routes_visit(struct redis_routes *routes, bool has_slots,
                        void visit(struct redis_link *link, void *arg), void *arg);

#endif /* BASE_REDIS_CLUSTER_ROUTES_H */
