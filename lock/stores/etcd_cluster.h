/* SPDX-License-Identifier: MIT */
/* etcd_cluster.h -- refuses the answers of another etcd cluster.
 *
 * A member that was removed from its cluster and then started as the first member of a
 * new cluster still answers at its old address, and knows none of the locks that are
 * held. etcd has the number of its cluster in the header of each answer.  So a system
 * remembers the number of its first answer, and refuses every answer with another
 * number.
 *
 * Threads     Any. */
#ifndef DLOCK_ETCD_CLUSTER_H
#define DLOCK_ETCD_CLUSTER_H

#include <jansson.h>
#include <stdbool.h>

#include "base/os/mutex.h"

enum { ETCD_CLUSTER_SIZE = 21 }; /* a number of 64 bits as text */

struct etcd_cluster {
    struct dlock_mutex mutex; /* protects what follows */
    char id[ETCD_CLUSTER_SIZE]; /* "": no answer has come yet */
};

void etcd_cluster_init(struct etcd_cluster *cluster);
void etcd_cluster_destroy(struct etcd_cluster *cluster);

/* Does the answer come from the cluster of the first answer?  The first answer with a
 * header sets the cluster.  True also for an answer without a header, such as a
 * refusal.  False: `other` is the number in this answer, `own` the number of the
 * first. */
bool etcd_cluster_is_same(struct etcd_cluster *cluster, const json_t *answer,
                          char other[ETCD_CLUSTER_SIZE], char own[ETCD_CLUSTER_SIZE]);

#endif /* DLOCK_ETCD_CLUSTER_H */
