/* SPDX-License-Identifier: MIT */
/* zookeeper_inspect.h -- inspecting locks in ZooKeeper, and freeing them by force.
 *
 * The data of a holder's node begins with its owner, and perhaps its level.  Before a
 * read the server is asked to catch up (sync), so that every earlier write is visible.
 *
 * Threads     Any.
 */
#ifndef DLOCK_ZOOKEEPER_INSPECT_H
#define DLOCK_ZOOKEEPER_INSPECT_H

#include "lock/stores/zookeeper_session.h"

/* The slot `inspect` for a lock that is the node `path`.  The number of waiters is not
 * known.  OK, IO, PROTOCOL, NOMEM. */
dlock_status zookeeper_look_at(struct zookeeper_session *session, const char *path,
                               dlock_info *out);

/* The slot `force` for such a lock.  OK; LOST: the lock was free; UNKNOWN: it may be
 * free now; IO, PROTOCOL, NOMEM: nothing was changed. */
dlock_status zookeeper_take_away(struct zookeeper_session *session, const char *path);

/* The same two slots for a queue in the directory `dir`, whose first place holds the
 * lock. */
dlock_status zookeeper_look_at_queue(struct zookeeper_session *session, const char *dir,
                                     dlock_info *out);
dlock_status zookeeper_take_away_first(struct zookeeper_session *session,
                                       const char *dir);

#endif /* DLOCK_ZOOKEEPER_INSPECT_H */
