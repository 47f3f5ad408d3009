/* SPDX-License-Identifier: MIT */
/* traffic.c -- counts the requests and connections of this process to all its Redis
 * servers. */
#include "base/redis/traffic.h"

struct redis_traffic_counts redis_traffic_counts;

void redis_traffic_read(struct redis_traffic *out)
{
    struct redis_traffic_counts *counts = &redis_traffic_counts;

    out->in_flight = atomic_load_explicit(&counts->in_flight, memory_order_relaxed);
    out->opened = atomic_load_explicit(&counts->opened, memory_order_relaxed);
    out->failed = atomic_load_explicit(&counts->failed, memory_order_relaxed);
}
