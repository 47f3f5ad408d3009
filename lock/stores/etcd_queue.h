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

/* Revoke the leases without a key, and free the memory.  A lock that is held ends with
 * its lease.  NULL is fine. */
void etcd_queue_close(struct etcd_queue *queue);

/* The slot check. */
dlock_status etcd_queue_check(struct etcd_queue *queue);

/* Take a place in the queue, or check the place of the claim's owner if it waits
 * already.
 *   OK        the place is the first, and the claim's fence is written
 *   BUSY      another place is the first; a claim that waits keeps its place, and any
 *             other has left none
 *   IO, NOMEM   only a claim that waits may have a place
 *   UNKNOWN, PROTOCOL   the caller has to call etcd_queue_leave() */
dlock_status etcd_queue_enter(struct etcd_queue *queue, dlock_claim *claim);

/* The slots renew, renew_all and release. etcd_queue_leave() also gives up the place of a
 * waiter. */
dlock_status etcd_queue_renew(struct etcd_queue *queue, const dlock_claim *claim);
void etcd_queue_renew_all(struct etcd_queue *queue, const dlock_claim *claims, size_t count,
                          dlock_status *statuses);
dlock_status etcd_queue_leave(struct etcd_queue *queue, const dlock_claim *claim);

/* The slots watch, sleep and unwatch. */
void *etcd_queue_watch(struct etcd_queue *queue, const dlock_claim *claim);
bool etcd_queue_sleep(void *watch, int64_t until_ns);
void etcd_queue_unwatch(void *watch);

/* The slots inspect and force. */
dlock_status etcd_queue_inspect(struct etcd_queue *queue, const char *name, dlock_info *out);
dlock_status etcd_queue_force(struct etcd_queue *queue, const char *name);

#endif /* DLOCK_ETCD_QUEUE_H */
