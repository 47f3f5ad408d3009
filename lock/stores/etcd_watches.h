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

struct etcd_watches; /* of a system; opaque */
struct etcd_waiter;  /* opaque */

/* NULL: no memory. */
struct etcd_watches *etcd_watches_open(struct etcd_http *http);

/* Nobody waits.  NULL is fine. */
void etcd_watches_close(struct etcd_watches *watches);

/* Begin to wait for the lock `name`.  NULL: no memory, or no thread for the watches. */
struct etcd_waiter *etcd_waiter_begin(struct etcd_watches *watches, const char *name);

/* Wait until the key with the lease `before`, which was there at `revision`, has ended, or may
 * have (true), or until `until_ns` (false). */
bool etcd_waiter_sleep(struct etcd_waiter *waiter, uint64_t before, uint64_t revision,
                       int64_t until_ns);

void etcd_waiter_end(struct etcd_waiter *waiter);

/* This process has deleted the key with that lease: its own waiters need not wait for etcd to
 * tell. */
void etcd_watches_note(struct etcd_watches *watches, const char *name, uint64_t lease,
                       uint64_t revision);

/* A key had ended without a word of the watch, so the watch may be deaf: begin it anew. */
void etcd_watches_doubt(struct etcd_watches *watches, const char *name);

#endif /* DLOCK_ETCD_WATCHES_H */
