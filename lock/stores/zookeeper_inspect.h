/* SPDX-License-Identifier: MIT */
/* zookeeper_inspect.h -- locks in ZooKeeper from outside: looking at them, and freeing
 * them whoever holds them.
 *
 * The text of a holder's node begins with its owner, and perhaps its level.  Reading asks
 * the server to catch up first, so what was true before the call is seen.
 *
 * Threads     Any.
 */
#ifndef DLOCK_ZOOKEEPER_INSPECT_H
#define DLOCK_ZOOKEEPER_INSPECT_H

#include "lock/stores/zookeeper_session.h"

/* The slot `inspect` for a lock that is the node `path`: who waits is not known there.
 * OK, IO, PROTOCOL, NOMEM. */
dlock_status zookeeper_look_at(struct zookeeper_session *session, const char *path,
                               dlock_info *out);

/* The slot `force` for it.  OK; LOST: it was free; UNKNOWN: it may be free; IO,
 * PROTOCOL, NOMEM: it was not tried. */
dlock_status zookeeper_take_away(struct zookeeper_session *session, const char *path);

/* The same for a queue in the directory `dir`, whose first place holds. */
dlock_status zookeeper_look_at_queue(struct zookeeper_session *session, const char *dir,
                                     dlock_info *out);
dlock_status zookeeper_take_away_first(struct zookeeper_session *session,
                                       const char *dir);

#endif /* DLOCK_ZOOKEEPER_INSPECT_H */
