/* SPDX-License-Identifier: MIT */
/* redis_pool.h -- the inside of a link, for the exchange: its connections. */
#ifndef DLOCK_REDIS_POOL_H
#define DLOCK_REDIS_POOL_H

#include "lock/stores/redis_conn.h"
#include "lock/stores/redis_link.h"

/* A connection to use alone: an idle one, or a new one that is still to be finished.
 * NULL: there is no memory, or the server is being left alone and `insist` is false;
 * `why` then says so. */
struct redis_conn *redis_link_take(struct redis_link *link, bool insist, char *why,
                                   size_t why_size);

/* Give it back after a reply: the server is up. */
void redis_link_give(struct redis_link *link, struct redis_conn *conn);

/* Close it after a failure.  Leaves the server alone for a while if it never became
 * ready, or if it `was_slow` and the link counts that. */
void redis_link_drop(struct redis_link *link, struct redis_conn *conn, bool was_slow);

int redis_link_timeout_ms(const struct redis_link *link);

#endif /* DLOCK_REDIS_POOL_H */
