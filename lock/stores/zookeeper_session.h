/* SPDX-License-Identifier: MIT */
/* zookeeper_session.h -- the session with ZooKeeper in which all locks of a system
 * live.
 *
 * A session survives the loss of a connection. When the server has received nothing for
 * the session timeout, it ends the session and deletes its nodes. Each session of a
 * system has a number, its `epoch`; nodes of one epoch do not exist in the next.
 *
 * From the sending of the last answered write on, the ensemble keeps the session at
 * least for the timeout. (An answered read proves nothing: a follower that has lost its
 * leader answers reads.) If no write was answered for that time, this process gives the
 * session up, even if the server may still have it, because its locks cannot be relied
 * on any more. The next session is opened in the background, with a back-off of 20 ms,
 * doubling to 1 s. So after a freeze of the process, the clock shows the loss before
 * any message arrives.
 *
 * A thread, the keeper, opens and closes sessions, sends heartbeats, and settles
 * debts (zookeeper_debts.h). The client library has two more threads, in which answers
 * and events arrive.
 *
 * Host names are resolved when a session is opened and when its connection is lost. If
 * the process forks just then, resolving a host name may never end in the child,
 * because the C library does not survive that.
 *
 * Threads     Any.
 */
#ifndef DLOCK_ZOOKEEPER_SESSION_H
#define DLOCK_ZOOKEEPER_SESSION_H

#include <stdint.h>

#include "lock/dlock_variant.h"
#include "lock/stores/zookeeper_handle.h"
#include "lock/stores/zookeeper_path.h"

/* Check opts->zookeeper_url, open a session, and make the directory of the locks of
 * this `kind`, which is a literal. The session timeout is opts->lease_ms, within what
 * the server allows, and at least 400 ms.
 *   OK, INVALID, IO (no server answers), PROTOCOL (refused), NOMEM */
dlock_status zookeeper_session_open(struct zookeeper_session **out,
                                    const dlock_options *opts, const char *kind);

/* End the session, so that the server frees its locks, and free the memory. NULL is
 * fine. */
void zookeeper_session_close(struct zookeeper_session *session);

/* Ask the server for an answer. OK or IO. */
dlock_status zookeeper_session_check(struct zookeeper_session *session);

/* Make the directory of this kind of locks again, if it was deleted. */
dlock_status zookeeper_session_make_root(struct zookeeper_session *session,
                                         int64_t deadline_ns);

#endif /* DLOCK_ZOOKEEPER_SESSION_H */
