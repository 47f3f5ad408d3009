/* SPDX-License-Identifier: MIT */
/* partitions.h -- the databases of the service: a pool of connections to each, and a
 * limit of the requests that use one database at once.
 *
 * With one database there is no limit.  With several, a database that hangs must not
 * occupy all workers, so at most 2 / (count + 1) of the workers may use one database.
 *
 * Threads     Any, but for open and close.
 */
#ifndef APP_PARTITIONS_H
#define APP_PARTITIONS_H

#include "app/config.h"
#include "db/pool.h"

struct partitions; /* opaque */

struct partition_stats {
    struct db_pool_stats pool;
    int64_t inside; /* requests that use it now */
    uint64_t turned_away; /* by partitions_enter() */
};

/* Make the pools.  NULL: no memory, or no thread. */
struct partitions *partitions_open(const struct config *c);
/* Close the pools, and free the object.  No thread may have a connection.  NULL is fine. */
void partitions_close(struct partitions *p);

size_t partitions_count(const struct partitions *p);

struct db_pool *partitions_pool(struct partitions *p, size_t i);

/* Begin to use a database; partitions_leave() ends that.  False: the limit is
 * reached. */
bool partitions_enter(struct partitions *p, size_t i);
/* The same without a limit, for a request that has begun before. */
void partitions_enter_again(struct partitions *p, size_t i);
void partitions_leave(struct partitions *p, size_t i);

/* The database for the next new voucher; the databases take turns. */
size_t partitions_next(struct partitions *p);

void partitions_read_stats(struct partitions *p, size_t i, struct partition_stats *out);

#endif /* APP_PARTITIONS_H */
