/* SPDX-License-Identifier: MIT */
/* master.h -- which server is the master, out of what several Sentinels say.
 *
 * Sentinels do not learn of a fail-over at the same time.  A Sentinel that was cut off still
 * names the master before.  So the address of a higher config epoch replaces the known one, and
 * another address of the same or a lower epoch counts only when more than half of the Sentinels
 * name it, as after they were all set up anew.
 *
 * An era is the time of one master as this process saw it.  Era 1 begins with the first address
 * that is named; each other address begins the next era.  What a master of an earlier era has
 * granted cannot be vouched for.
 *
 * Only for this room.
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
    atomic_int first;     /* the Sentinel to begin with */
    struct dlock_mutex mutex;
    int sentinel_count;
    struct redis_view known; /* of this era */
    int64_t named_ns;        /* when a Sentinel named it last */
    struct redis_view views[REDIS_SENTINELS_MAX]; /* the last of each; port 0: none */
};

void redis_master_init(struct redis_master *master, int sentinel_count);
void redis_master_destroy(struct redis_master *master);

/* The Sentinel `number` has said `view` at `now_ns` (base/os/clock.h).  Answers the era of that
 * address, from 1 on; 0: the view is older than what is known, and is not to be followed. */
uint64_t redis_master_hear(struct redis_master *master, int number,
                           const struct redis_view *view, int64_t now_ns);

#endif /* BASE_REDIS_MASTER_H */
