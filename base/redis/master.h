/* SPDX-License-Identifier: MIT */
/* master.h -- computes which server is the master, from the answers of several
 * Sentinels.
 *
 * Sentinels do not learn of a fail-over at the same time.  A Sentinel that was cut off
 * still names the old master.  So the address of a higher config epoch replaces the
 * known one, and another address of the same or a lower epoch counts only when more
 * than half of the Sentinels name it, which happens when all Sentinels were set up
 * anew.
 *
 * An era is the time in which this process counts one server as the master.  Era 1
 * begins with the first address that a Sentinel names, and each change of the address
 * begins the next era.  A later master may lack the grants of an earlier era.
 *
 * Only for base/redis/.
 *
 * Threads     Any. */
#ifndef BASE_REDIS_MASTER_H
#define BASE_REDIS_MASTER_H

#include <stdatomic.h>

#include "base/os/mutex.h"
#include "base/redis/sentinel.h"

enum { REDIS_MASTER_FORGET_MS = 10000 };

struct redis_master {
    _Atomic uint64_t era; /* 0: no address was named yet; written under the mutex */
    atomic_int first;     /* the index of the Sentinel to ask first */
    struct dlock_mutex mutex;
    int sentinel_count;
    struct redis_view known; /* of this era */
    int64_t named_ns;        /* when a Sentinel named it last */
    struct redis_view views[REDIS_SENTINELS_MAX]; /* the last answer of each Sentinel;
                                                   * port 0: none */
};

void redis_master_init(struct redis_master *master, int sentinel_count);
void redis_master_destroy(struct redis_master *master);

/* Take in the `view` that the Sentinel `number` answered at `now_ns` (base/os/clock.h).
 * Returns the era of its address, from 1 on; 0: the view is out of date, and must not
 * be used. */
uint64_t redis_master_hear(struct redis_master *master, int number,
                           const struct redis_view *view, int64_t now_ns);

#endif /* BASE_REDIS_MASTER_H */
