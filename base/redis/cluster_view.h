/* SPDX-License-Identifier: MIT */
/* cluster_view.h -- what one node of a Redis Cluster says of the cluster: the answer to
 * CLUSTER NODES, which names every node, whose replica it is, and the slots of each master.
 *
 * Only for this room.
 *
 * Threads     A value. */
#ifndef BASE_REDIS_CLUSTER_VIEW_H
#define BASE_REDIS_CLUSTER_VIEW_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/redis/slot.h"
#include "base/redis/url.h"

enum {
    REDIS_CLUSTER_NODES_MAX = 256,
    REDIS_NODE_ID_SIZE = 41,
    REDIS_NO_NODE = -1,
};

struct redis_view_node {
    char id[REDIS_NODE_ID_SIZE];
    char master_id[REDIS_NODE_ID_SIZE]; /* "" of a master */
    struct redis_place place;           /* port 0: the cluster knows no address of it */
    char name[REDIS_HOST_MAX + 1];      /* of the host, if the node announces one (7.0), or "" */
    bool is_master;
    bool is_failed; /* more than half of the masters, or the node that was asked, say so */
    int64_t epoch;  /* of the configuration: of two claims of a slot the higher one holds */
};

struct redis_cluster_view {
    int node_count;
    struct redis_view_node nodes[REDIS_CLUSTER_NODES_MAX];
    int16_t owners[REDIS_SLOT_COUNT]; /* the number of the node, or REDIS_NO_NODE */
};

/* Read `len` bytes of an answer to CLUSTER NODES.  A node without an address is the node that
 * was `asked`.  False: the text is none; `why` says what is wrong. */
bool redis_cluster_view_read(struct redis_cluster_view *out, const char *text, size_t len,
                             const struct redis_place *asked, char *why, size_t why_size);

/* The node with that id; NULL: there is none. */
const struct redis_view_node *redis_cluster_view_find(const struct redis_cluster_view *view,
                                                      const char *id);

/* Read "host:port", where the host may be an IPv6 address without brackets, empty or "?": then it is
 * that of `asked`.  What begins with "@" or "," behind the port is passed over.  False: it is none. */
bool redis_place_read(struct redis_place *out, const char *text, size_t len,
                      const struct redis_place *asked);

#endif /* BASE_REDIS_CLUSTER_VIEW_H */
