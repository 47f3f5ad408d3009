/* SPDX-License-Identifier: MIT */
/* zookeeper_watches.h -- wakes waiters when a node is deleted.
 *
 * All waiters of a system for one node share one watch of the server.  Only the
 * deletion of the node wakes a waiter, and not a change of its data.  If the node does
 * not exist, no watch is left in the server.
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
    uint64_t seen; /* the deletions of the node that the waiter has seen */
};

/* NULL: no memory. */
struct zookeeper_watches *zookeeper_watches_open(struct zookeeper_session *session);
void zookeeper_watches_close(struct zookeeper_watches *watches);

/* Wake all waiters of earlier sessions than `epoch`, because these sessions are closed
 * and their watches cannot fire any more.  Only the keeper calls this. */
void zookeeper_watches_end(struct zookeeper_watches *watches, uint64_t epoch);

/* Begin to wait for the deletion of the node `path`.  False: no memory. */
bool zookeeper_waiter_begin(struct zookeeper_waiter *waiter,
                            struct zookeeper_watches *watches, const char *path);

/* Sleep until the node was deleted, does not exist, or may have been deleted unnoticed
 * (true), or until `until_ns` (false). */
bool zookeeper_waiter_sleep(struct zookeeper_waiter *waiter, uint64_t epoch,
                            int64_t until_ns);

/* End the wait.  A waiter that never began is fine. */
void zookeeper_waiter_end(struct zookeeper_waiter *waiter);

/* Does the waiter wait for the node `path`? */
bool zookeeper_waiter_is_for(const struct zookeeper_waiter *waiter, const char *path);

#endif /* DLOCK_ZOOKEEPER_WATCHES_H */
