/* SPDX-License-Identifier: MIT */
/* cluster_links.h -- one link to a Redis Cluster, which has a link to each of its masters.
 *
 * A command goes to the node that has the slot of its first key.  If the node does not
 * have the slot, it answers with a redirect and does not execute the command.  So the
 * command can be sent again without being executed twice: to the node that the redirect
 * names (MOVED, ASK), or after a pause (TRYAGAIN, CLUSTERDOWN).  When the link's
 * timeout has passed, no redirect is followed any more, and the answer is NOT_DONE,
 * with the last redirect and the number of redirects.  The last node that was asked has
 * its own timeout to answer, so a command that was just sent is not given up.  A
 * redirect without a place, or for another slot than that of the command, is PROTOCOL.
 * Every other failure is the answer, as with a link to one server; it names the
 * redirect that led to the node that failed.
 *
 * A promotion of a replica begins a new era for the slots of its master; a slot that moves to
 * another master keeps its era (cluster_map.h).
 *
 * Scripts publish by SPUBLISH instead of PUBLISH, which needs Redis 7.0.
 *
 * Threads     As link.h. */
#ifndef BASE_REDIS_CLUSTER_LINKS_H
#define BASE_REDIS_CLUSTER_LINKS_H

#include "base/redis/link.h"

/* Make a link to the cluster of the nodes of `url`, without connecting.  The link is
 * used and closed like any link, but an exchange cannot ask it together with other
 * links.  Parameters and NULL as redis_link_new(). */
struct redis_link *redis_cluster_link_new(const struct redis_url *url, int timeout_ms,
                                          bool slow_is_down);

#endif /* BASE_REDIS_CLUSTER_LINKS_H */
