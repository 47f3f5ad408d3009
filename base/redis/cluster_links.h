/* SPDX-License-Identifier: MIT */
/* cluster_links.h -- one link to a Redis Cluster, which has a link to each of its masters.
 *
 * A command goes to the node that has the slot of its first key.  A node that has not answers with
 * a redirect and executes nothing, so the command is sent again, without a risk that it is executed
 * twice: to the node that the redirect names (MOVED, ASK), or after a pause (TRYAGAIN,
 * CLUSTERDOWN).  This ends with the link's timeout: the answer is then NOT_DONE, with the last
 * redirect and the number of them.  The node that is asked last has its own timeout to answer, so that
 * no command is given up that was just sent.  A redirect that names no place, or another slot than that of the
 * command, is PROTOCOL.  All other failures are the caller's, as with a link to one server; they name
 * the redirect that led to the node that failed.
 *
 * A promotion of a replica begins a new era for the slots of its master; a slot that moves to
 * another master keeps its era (cluster_map.h).
 *
 * Scripts publish by SPUBLISH where they say PUBLISH, which needs Redis 7.0.
 *
 * Threads     As link.h. */
#ifndef BASE_REDIS_CLUSTER_LINKS_H
#define BASE_REDIS_CLUSTER_LINKS_H

#include "base/redis/link.h"

/* A link to the cluster that the nodes of `url` belong to; does not connect.  It is used and closed
 * as any link, but not asked together with others.  The rest as redis_link_new(). */
struct redis_link *redis_cluster_link_new(const struct redis_url *url, int timeout_ms,
                                          bool slow_is_down);

#endif /* BASE_REDIS_CLUSTER_LINKS_H */
