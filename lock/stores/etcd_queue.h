/* SPDX-License-Identifier: MIT */
/* etcd_queue.h -- queues of keys in etcd, one for each name of a lock.
 *
 * Every claim that holds or waits has a place: a key of its own, with a lease of its own.  The
 * key with the lowest create revision holds.  An owner that leaves deletes its key, and keeps
 * the lease for its next key; a lease about which a request may still arrive is revoked instead,
 * so that such a request comes to nothing.
 *
 * Threads     Any; a place belongs to the thread whose claim it is. */
#ifndef DLOCK_ETCD_QUEUE_H
#define DLOCK_ETCD_QUEUE_H

#include "lock/stores/etcd_http.h"

struct etcd_queue; /* of a system, for all names; opaque */

/* Connect to opts->etcd_url.  OK, INVALID, IO, PROTOCOL, NOMEM. */
dlock_status etcd_queue_open(struct etcd_queue **out, const dlock_options *opts);

/* Revokes leases without a key; what is held ends with its lease.  NULL is fine. */
void etcd_queue_close(struct etcd_queue *queue);

dlock_status etcd_queue_check(struct etcd_queue *queue);

/* Take a place, or look at the one that the claim's owner waits at.  OK: it is the first, and
 * the claim's fence is written.  BUSY: it waits if the claim does; otherwise nothing is left.
 * IO, NOMEM: nothing is left but a place of a claim that waits.  UNKNOWN, PROTOCOL:
 * etcd_queue_leave() has to be called. */
dlock_status etcd_queue_enter(struct etcd_queue *queue, dlock_claim *claim);

/* The slots renew and release; the second also gives up a place in the queue. */
dlock_status etcd_queue_renew(struct etcd_queue *queue, const dlock_claim *claim);
dlock_status etcd_queue_leave(struct etcd_queue *queue, const dlock_claim *claim);

/* The slots watch, sleep and unwatch. */
void *etcd_queue_watch(struct etcd_queue *queue, const dlock_claim *claim);
bool etcd_queue_sleep(void *watch, int64_t until_ns);
void etcd_queue_unwatch(void *watch);

/* The slots inspect and force. */
dlock_status etcd_queue_inspect(struct etcd_queue *queue, const char *name, dlock_info *out);
dlock_status etcd_queue_force(struct etcd_queue *queue, const char *name);

#endif /* DLOCK_ETCD_QUEUE_H */
