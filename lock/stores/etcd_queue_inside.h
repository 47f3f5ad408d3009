/* SPDX-License-Identifier: MIT */
/* etcd_queue_inside.h -- the struct of a queue in etcd.  Only for etcd_queue.c and
 * etcd_queue_outside.c. */
#ifndef DLOCK_ETCD_QUEUE_INSIDE_H
#define DLOCK_ETCD_QUEUE_INSIDE_H

#include "lock/stores/etcd_http.h"
#include "lock/stores/etcd_leases.h"
#include "lock/stores/etcd_places.h"
#include "lock/stores/etcd_watches.h"

struct etcd_queue {
    struct etcd_http *http;
    struct etcd_leases *leases;
    struct etcd_keys *keys;
    struct etcd_places *places;
    struct etcd_watches *watches;
};

#endif /* DLOCK_ETCD_QUEUE_INSIDE_H */
