/* SPDX-License-Identifier: MIT */
/* zookeeper_queue.h -- queues of ephemeral sequential nodes, one for each name of a
 * lock.
 *
 * Every claim that holds or waits has a place: a node "c-TOKEN-NUMBER" in the directory
 * of the name. The one with the smallest number holds. The token is how the node is
 * found if the answer to making it was lost. An owner that leaves removes the directory too,
 * if it is empty.  A directory that the end of a session left empty is a container node, which
 * the server removes in its own time.
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

/* Take a place, or look at the one that the claim's owner waits at. OK: it is the
 * first; the claim's note and fence are written. BUSY: it waits if the claim does;
 * otherwise nothing is left. Or a failure: nothing is left, or owed to be removed;
 * after UNKNOWN zookeeper_queue_leave() has to be called. */
dlock_status zookeeper_queue_enter(struct zookeeper_queue *queue, dlock_claim *claim);

/* Write the level of a place that holds.  OK, and *fence (which may be NULL) is that of
 * the place; LOST: the place is gone; or a failure. */
dlock_status zookeeper_queue_set_level(struct zookeeper_queue *queue,
                                       const dlock_claim *claim, int level,
                                       uint64_t *fence);

/* Give up the place, or what an unanswered request may have made.  OK, LOST (there is
 * none, or not any more), UNKNOWN, IO, PROTOCOL (it is owed). */
dlock_status zookeeper_queue_leave(struct zookeeper_queue *queue,
                                   const dlock_claim *claim);

/* The slots watch, sleep and unwatch. */
void *zookeeper_queue_watch(struct zookeeper_queue *queue, const dlock_claim *claim);
bool zookeeper_queue_sleep(void *watch, int64_t until_ns);
void zookeeper_queue_unwatch(void *watch);

#endif /* DLOCK_ZOOKEEPER_QUEUE_H */
