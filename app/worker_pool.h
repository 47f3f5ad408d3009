/* SPDX-License-Identifier: MIT */
/* worker_pool.h -- limits the requests that are worked on at once.
 *
 * A request takes a worker when all of it has arrived, and gives it back before the
 * answer is sent, so that a slow client never occupies a worker.  Requests that find no free worker
 * wait in the order of their arrival.  A worker that rests, because its request only waits for
 * another one, does not count.
 *
 * Threads     Any.
 */
#ifndef APP_WORKER_POOL_H
#define APP_WORKER_POOL_H

#include "app/service.h"

struct worker_pool; /* opaque */

struct worker_pool_stats {
    int64_t total;
    int64_t in_use;     /* without those that rest */
    int64_t waiting;
    uint64_t timed_out; /* requests that waited in vain */
};

/* Make a pool of `count` workers; the memory of each is allocated at its first use.
 * NULL: no memory. */
struct worker_pool *worker_pool_new(struct service *service, int64_t count);
/* Free the pool.  All workers have been given back.  NULL is fine. */
void worker_pool_free(struct worker_pool *s);

/* Take a worker, waiting at most `wait_ms`.  NULL: the time passed, or no memory. */
struct worker *worker_pool_take(struct worker_pool *s, int64_t wait_ms);
/* The worker rests: its place goes to another request. */
void worker_pool_rest(struct worker_pool *s, struct worker *w);
/* It works on at once, even beyond the limit; nothing happens if it does not rest. */
void worker_pool_resume(struct worker_pool *s, struct worker *w);
/* Give a worker back, which may rest; NULL is fine. */
void worker_pool_give(struct worker_pool *s, struct worker *w);

void worker_pool_read_stats(struct worker_pool *s, struct worker_pool_stats *out);

#endif /* APP_WORKER_POOL_H */
