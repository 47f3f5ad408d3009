/* SPDX-License-Identifier: MIT */
/* etcd_watches.h -- wakes waiters when the key before theirs is deleted.
 *
 * All waiters of a system for one lock share one watch of etcd, on all keys of the
 * lock.  A deleted key wakes only the waiter after that key.  If a watch breaks, it
 * goes on at another member, from the revision at which it broke.
 *
 * Threads     Any, but for open and close; a waiter belongs to one. */
#ifndef DLOCK_ETCD_WATCHES_H
#define DLOCK_ETCD_WATCHES_H

#include "lock/stores/etcd_http.h"
#include "lock/stores/etcd_turns.h"

struct etcd_watches; /* of a system; opaque */
struct etcd_waiter;  /* opaque */

/* NULL: no memory. */
struct etcd_watches *etcd_watches_open(struct etcd_http *http);

/* End all watches and free the memory.  No thread waits.  NULL is fine. */
void etcd_watches_close(struct etcd_watches *watches);

/* Begin to wait for the lock `name`.  NULL: no memory, or no thread for the watches. */
struct etcd_waiter *etcd_waiter_begin(struct etcd_watches *watches, const char *name);

/* Sleep until there is news of the key whose place is `stand`, and return the news;
 * ETCD_TOLD_NOTHING: `until_ns` has come. */
enum etcd_told etcd_waiter_sleep(struct etcd_waiter *waiter, const struct etcd_stand *stand,
                                 int64_t until_ns);

void etcd_waiter_end(struct etcd_waiter *waiter);

/* Does a waiter of this process sleep for the lock? */
bool etcd_watches_wait(struct etcd_watches *watches, const char *name);

/* Note that this process has deleted a key, so that its own waiters need not wait for
 * etcd's message.  `first_created`: the create revision of the key that is the first
 * after that; 0: not known. */
void etcd_watches_note(struct etcd_watches *watches, const char *name,
                       const struct etcd_end *end, uint64_t first_created);

/* A key was deleted, and the watch has not reported it: begin the watch anew, because
 * it may have stopped silently. */
void etcd_watches_doubt(struct etcd_watches *watches, const char *name);

/* The latest revision that the watch of the lock, or an answer about the lock, has
 * named; 0: no thread waits. etcd answers a question that is asked from now on at this
 * revision or a later one. */
uint64_t etcd_watches_known(struct etcd_watches *watches, const char *name);

/* An answer of etcd was at `revision`, which is before the latest known one: etcd has
 * lost its data, or the watch has reported a wrong revision.  Begin the watch anew at
 * `revision`. */
void etcd_watches_restart(struct etcd_watches *watches, const char *name, uint64_t revision);

#endif /* DLOCK_ETCD_WATCHES_H */
