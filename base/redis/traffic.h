/* SPDX-License-Identifier: MIT */
/* traffic.h -- counts the requests and connections of this process to all its Redis
 * servers.
 *
 * The numbers are of the process and not of a link, because monitoring reads them, and
 * links come and go.
 *
 * Threads     Any; no call waits. */
#ifndef DLOCK_REDIS_TRAFFIC_H
#define DLOCK_REDIS_TRAFFIC_H

#include <stdatomic.h>
#include <stdint.h>

struct redis_traffic {
    int64_t in_flight; /* requests without an answer, sent or about to be sent */
    uint64_t opened;   /* connections that became usable */
    uint64_t failed;   /* connections that broke, or could not be made */
};

extern struct redis_traffic_counts {
    atomic_int_fast64_t in_flight;
    atomic_uint_fast64_t opened, failed;
} redis_traffic_counts;

/* Add to the number of requests without an answer; negative: subtract. */
static inline void redis_traffic_add(int64_t requests)
{
    atomic_fetch_add_explicit(&redis_traffic_counts.in_flight, requests,
                              memory_order_relaxed);
}

static inline void redis_traffic_opened(void)
{
    atomic_fetch_add_explicit(&redis_traffic_counts.opened, 1, memory_order_relaxed);
}

static inline void redis_traffic_failed(void)
{
    atomic_fetch_add_explicit(&redis_traffic_counts.failed, 1, memory_order_relaxed);
}

/* Copy the numbers of this moment. */
void redis_traffic_read(struct redis_traffic *out);

#endif /* DLOCK_REDIS_TRAFFIC_H */
