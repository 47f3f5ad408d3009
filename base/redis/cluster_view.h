/* SPDX-License-Identifier: MIT */
/* cluster_view.h -- one node's description of a Redis Cluster: the answer to CLUSTER
 * NODES, which has every node, the master of each replica, and the slots of each
 * master.
 *
 * Only for base/redis/.
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
    struct redis_address place;         /* port 0: the cluster has no address of it */
    char name[REDIS_HOST_MAX + 1];      /* of the host, if the node announces one (7.0), or "" */
    bool is_master;
    bool is_failed; /* more than half of the masters, or the node that was asked, count
                     * it as failed */
    int64_t epoch;  /* the config epoch: of two masters that claim a slot, the one with
                     * the higher epoch has it */
};

struct redis_cluster_view {
    int node_count;
    struct redis_view_node nodes[REDIS_CLUSTER_NODES_MAX];
    int16_t owners[REDIS_SLOT_COUNT]; /* the index in `nodes`, or REDIS_NO_NODE */
};

/* Read `len` bytes of an answer to CLUSTER NODES.  A node without an address is the node that
 * was `asked`.  False: the text is malformed; `why` says what is wrong. */
bool redis_cluster_view_read(struct redis_cluster_view *out, const char *text, size_t len,
                             const struct redis_address *asked, char *why, size_t why_size);

/* The node with that id; NULL: there is none. */
const struct redis_view_node *redis_cluster_view_find(const struct redis_cluster_view *view,
                                                      const char *id);

/* May these bytes be the name or the address of a host?  Whatever else a server sends would reach
 * the resolver, a handshake of TLS and messages. */
bool redis_host_is_valid(const char *text, size_t len);

/* Read "host:port", where the host may be an IPv6 address without brackets.  If the
 * host is empty or "?", it is the host of `asked`.  Text after the port that begins
 * with "@" or "," is ignored.  False: the text is malformed. */
bool redis_address_read(struct redis_address *out, const char *text, size_t len,
                        const struct redis_address *asked);

#endif /* BASE_REDIS_CLUSTER_VIEW_H */
