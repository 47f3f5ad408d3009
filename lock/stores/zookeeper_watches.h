/* SPDX-License-Identifier: MIT */
/* zookeeper_watches.h -- being told of the end of a node.
 *
 * All waiters of a system for one node share one watch of the server's.  The watch
 * tells of nothing but the node's end: a change of the node's data is no news to a waiter.
 * No watch is left behind when the node was gone before.
 *
 * Threads     Any; a waiter belongs to one.
 */
#ifndef DLOCK_ZOOKEEPER_WATCHES_H
#define DLOCK_ZOOKEEPER_WATCHES_H

#include "lock/stores/zookeeper_handle.h"

struct zookeeper_watches; /* opaque */
struct zookeeper_watch;   /* of one path; opaque */

/* A waiter. */
struct zookeeper_waiter {
    struct zookeeper_watches *watches;
    struct zookeeper_watch *watch;
    uint64_t seen; /* how many ends of the node it knows of */
};

/* NULL: no memory. */
struct zookeeper_watches *zookeeper_watches_open(struct zookeeper_session *session);
void zookeeper_watches_close(struct zookeeper_watches *watches);

/* For the keeper: every session before `epoch` is closed, so its watches will not tell
 * of anything any more. Wakes whoever waits. */
void zookeeper_watches_end(struct zookeeper_watches *watches, uint64_t epoch);

/* Wait for the end of the node `path`.  False: no memory. */
bool zookeeper_waiter_begin(struct zookeeper_waiter *waiter,
                            struct zookeeper_watches *watches, const char *path);

/* Wait until it has ended since the last sleep, or was not there, or may have ended
 * unseen (true), or until `until_ns` (false). */
bool zookeeper_waiter_sleep(struct zookeeper_waiter *waiter, uint64_t epoch,
                            int64_t until_ns);

/* A waiter that never began is fine. */
void zookeeper_waiter_end(struct zookeeper_waiter *waiter);

/* Does it wait for `path`? */
bool zookeeper_waiter_is_for(const struct zookeeper_waiter *waiter, const char *path);

#endif /* DLOCK_ZOOKEEPER_WATCHES_H */
