/* SPDX-License-Identifier: MIT */
/* etcd_cluster.h -- which cluster answers.
 *
 * A member that was removed from its cluster, and then started as the first of a new one, answers
 * at the old address and knows none of the locks that are held.  etcd names its cluster in the
 * header of each answer.  So the first answer says which cluster a system asks, and from then on
 * an answer of another one is none.
 *
 * Threads     Any. */
#ifndef DLOCK_ETCD_CLUSTER_H
#define DLOCK_ETCD_CLUSTER_H

#include <jansson.h>
#include <stdbool.h>

#include "base/os/mutex.h"

enum { ETCD_CLUSTER_SIZE = 21 }; /* a number of 64 bits as text */

struct etcd_cluster {
    struct dlock_mutex mutex; /* of what follows */
    char id[ETCD_CLUSTER_SIZE]; /* "": no answer has come yet */
};

void etcd_cluster_init(struct etcd_cluster *cluster);
void etcd_cluster_destroy(struct etcd_cluster *cluster);

/* Is that an answer of the cluster that gave the first one?  An answer without a header, such
 * as a refusal, is.  False: `other` and `own` are the numbers of both. */
bool etcd_cluster_is_same(struct etcd_cluster *cluster, const json_t *answer,
                          char other[ETCD_CLUSTER_SIZE], char own[ETCD_CLUSTER_SIZE]);

#endif /* DLOCK_ETCD_CLUSTER_H */
