/* SPDX-License-Identifier: MIT */
/* redirect.h -- reads the redirects of the nodes of a Redis Cluster, and counts them
 * for each thread.
 *
 * Threads     A value; the counts belong to the calling thread or fiber. */
#ifndef BASE_REDIS_REDIRECT_H
#define BASE_REDIS_REDIRECT_H

#include <stdbool.h>
#include <stdint.h>

#include "base/redis/answer.h"
#include "base/redis/url.h"

/* Read the place that `answer` names, which is MOVED or ASK: "label: MOVED slot
 * host:port".  If the host is left out, it is the host of `asked`, the node that
 * answered.  `slot` is the slot of the command, or below 0 if the command has no key.
 * False: the answer names no place, or another slot, so it cannot be the answer to this
 * command; `why` says so. */
bool redis_redirect_read(struct redis_address *out, const struct redis_answer *answer, int slot,
                         const struct redis_address *asked, char why[REDIS_TEXT_SIZE]);

/* The counters: one for each kind of redirect, in the order of enum redis_redirect, and last one
 * for the requests for a new map of the cluster.  The names are those of the counters of
 * lock/dlock_metrics.h. */
#define REDIS_CLUSTER_COUNTS(X)                                                        \
    X(redirects_moved)                                                                 \
    X(redirects_ask)                                                                   \
    X(redirects_try_again)                                                             \
    X(redirects_cluster_down)                                                          \
    X(map_refreshes)

enum redis_cluster_count {
#define X(name) REDIS_COUNT_##name,
    REDIS_CLUSTER_COUNTS(X)
#undef X
    REDIS_CLUSTER_COUNT_COUNT
};

/* The counts of the calling thread or fiber since its start: REDIS_CLUSTER_COUNT_COUNT of them. */
uint64_t *redis_cluster_counts_here(void);

/* Count one redirect; REDIS_NO_REDIRECT counts nothing. */
void redis_redirect_count(enum redis_redirect redirect);

#endif /* BASE_REDIS_REDIRECT_H */
