/* SPDX-License-Identifier: MIT */
/* partitions.h -- the databases of the service: a pool of connections to each, and the number
 * of requests that may be busy with one.
 *
 * With one database any number of requests may.  With several, one that hangs must not take
 * all workers from the others: 2 / (count + 1) of the workers may be busy with one.
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
    int64_t inside; /* requests that are busy with it */
    uint64_t turned_away; /* by partitions_enter() */
};

/* Make the pools.  NULL: no memory, or no thread. */
struct partitions *partitions_open(const struct config *c);
/* No thread may have a connection.  NULL is fine. */
void partitions_close(struct partitions *p);

size_t partitions_count(const struct partitions *p);

struct db_pool *partitions_pool(struct partitions *p, size_t i);

/* Begin to be busy with a database.  False: too many are. */
bool partitions_enter(struct partitions *p, size_t i);
void partitions_leave(struct partitions *p, size_t i);

/* The database for the next voucher that is made: each in turn. */
size_t partitions_next(struct partitions *p);

void partitions_read_stats(struct partitions *p, size_t i, struct partition_stats *out);

#endif /* APP_PARTITIONS_H */
