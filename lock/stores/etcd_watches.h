/* SPDX-License-Identifier: MIT */
/* etcd_watches.h -- waiters that are told of the end of the key before theirs.
 *
 * All waiters of a system for one lock share one watch of etcd, on all keys of the lock; each
 * end of a key wakes only the waiter behind that key.  A watch that breaks goes on at another
 * member where it broke.
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

/* Nobody waits.  NULL is fine. */
void etcd_watches_close(struct etcd_watches *watches);

/* Begin to wait for the lock `name`.  NULL: no memory, or no thread for the watches. */
struct etcd_waiter *etcd_waiter_begin(struct etcd_watches *watches, const char *name);

/* Wait until there is something to tell of the key, or until `until_ns` (ETCD_TOLD_NOTHING). */
enum etcd_told etcd_waiter_sleep(struct etcd_waiter *waiter, const struct etcd_stand *stand,
                                 int64_t until_ns);

void etcd_waiter_end(struct etcd_waiter *waiter);

/* Does a waiter of this process sleep for the lock? */
bool etcd_watches_wait(struct etcd_watches *watches, const char *name);

/* This process has ended a key: its own waiters need not wait for etcd to tell.
 * `first_created`: the create revision of the key that was the first then; 0: not known. */
void etcd_watches_note(struct etcd_watches *watches, const char *name,
                       const struct etcd_end *end, uint64_t first_created);

/* A key had ended without a word of the watch, so the watch may be deaf: begin it anew. */
void etcd_watches_doubt(struct etcd_watches *watches, const char *name);

/* The latest revision of which the watch of the lock, or an answer about it, has told; 0: nobody
 * waits.  A question that is asked from now on is answered at that revision or a later one. */
uint64_t etcd_watches_known(struct etcd_watches *watches, const char *name);

/* A question was answered at this revision, which is before the known one: etcd has forgotten
 * everything, or the watch told an untruth.  Begin it anew there. */
void etcd_watches_restart(struct etcd_watches *watches, const char *name, uint64_t revision);

#endif /* DLOCK_ETCD_WATCHES_H */
