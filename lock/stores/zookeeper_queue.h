/* SPDX-License-Identifier: MIT */
/* zookeeper_queue.h -- queues of ephemeral sequential nodes, one for each name of a
 * lock.
 *
 * Every claim that holds or waits has a place: a node "c-TOKEN-NUMBER" in the directory
 * of the name. The place with the smallest number holds the lock. If the answer to the
 * making of a node is lost, the node is found by its token. An owner that leaves also
 * deletes the directory if it is empty. The directory is a container node, so if the
 * end of a session leaves it empty, the server deletes it after some time.
 *
 * Threads     Any; a place belongs to the thread whose claim it is.
 */
#ifndef DLOCK_ZOOKEEPER_QUEUE_H
#define DLOCK_ZOOKEEPER_QUEUE_H

#include "lock/stores/zookeeper_session.h"

struct zookeeper_queue; /* of a system, for all names; opaque */

/* NULL: no memory. */
struct zookeeper_queue *zookeeper_queue_open(struct zookeeper_session *session,
                                             const char *kind);
void zookeeper_queue_close(struct zookeeper_queue *queue);

/* Take a place in the queue, or check the place of the claim's owner if it waits
 * already. OK: the place is the first, and the claim's note and fence are written.
 * BUSY: another place is the first; a claim that waits keeps its place, and any other
 * has left none. A failure: the claim has no place, or its node is a debt; after
 * UNKNOWN the caller has to call zookeeper_queue_leave(). */
dlock_status zookeeper_queue_enter(struct zookeeper_queue *queue, dlock_claim *claim);

/* Write the level of a place that holds.  OK, and *fence (which may be NULL) is that of
 * the place; LOST: the place is gone; or a failure. */
dlock_status zookeeper_queue_set_level(struct zookeeper_queue *queue,
                                       const dlock_claim *claim, int level,
                                       uint64_t *fence);

/* Give up the place, or the node that an unanswered request may have made. OK; LOST:
 * there is no such place; UNKNOWN, IO, PROTOCOL: the node is a debt now. */
dlock_status zookeeper_queue_leave(struct zookeeper_queue *queue,
                                   const dlock_claim *claim);

/* The slots watch, sleep and unwatch. */
void *zookeeper_queue_watch(struct zookeeper_queue *queue, const dlock_claim *claim);
bool zookeeper_queue_sleep(void *watch, int64_t until_ns);
void zookeeper_queue_unwatch(void *watch);

#endif /* DLOCK_ZOOKEEPER_QUEUE_H */
