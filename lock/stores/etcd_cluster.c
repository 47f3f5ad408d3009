/* SPDX-License-Identifier: MIT */
/* etcd_cluster.c -- refuses the answers of another etcd cluster. */
#include "lock/stores/etcd_cluster.h"

#include <stdio.h>
#include <string.h>

void etcd_cluster_init(struct etcd_cluster *cluster)
{
    dlock_mutex_init(&cluster->mutex);
    cluster->id[0] = '\0';
}

void etcd_cluster_destroy(struct etcd_cluster *cluster)
{
    dlock_mutex_destroy(&cluster->mutex);
}

bool etcd_cluster_is_same(struct etcd_cluster *cluster, const json_t *answer,
                          char other[ETCD_CLUSTER_SIZE], char own[ETCD_CLUSTER_SIZE])
{
    const json_t *result = json_object_get(answer, "result"); /* the object around a
                                                               * message of a stream */
    const json_t *header = json_object_get(result != NULL ? result : answer, "header");
    const char *id = json_string_value(json_object_get(header, "cluster_id"));

    if (id == NULL || id[0] == '\0')
        return true;
    snprintf(other, ETCD_CLUSTER_SIZE, "%s", id);
    dlock_mutex_lock(&cluster->mutex);
    if (cluster->id[0] == '\0')
        memcpy(cluster->id, other, ETCD_CLUSTER_SIZE);
    memcpy(own, cluster->id, ETCD_CLUSTER_SIZE);
    dlock_mutex_unlock(&cluster->mutex);
    return strcmp(own, other) == 0;
}
