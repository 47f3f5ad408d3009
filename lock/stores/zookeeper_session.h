/* SPDX-License-Identifier: MIT */
/* zookeeper_session.h -- the one session with ZooKeeper that a system's locks live in.
 *
 * A session survives lost connections, until the server has heard nothing of it for the
 * session timeout; then the server deletes its nodes. Each session of a system has a
 * number, its `epoch`: what was made in one epoch is gone in the next.
 *
 * The requests that the server answered tell how long the server keeps the session:
 * not less than the timeout from when the last of them was sent. A session that was not
 * heard of for so long is given up, also if it may still be there: nobody must rely on
 * it any more. The next one is opened in the background, with a back-off of 20 ms,
 * doubling to 1 s. So after a freeze of the process the clock tells, before any
 * message.
 *
 * A thread, the keeper, opens and closes sessions, sends heartbeats, and settles
 * debts (zookeeper_debts.h). Two more are the client library's, in which answers and
 * events arrive.
 *
 * Hosts are looked up when a session is opened and when its connection is lost.  A
 * process that forks just then has a child in which looking up a host may never end:
 * the C library does not survive that.
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
 *   OK, INVALID, IO (nobody answers), PROTOCOL (refused), NOMEM */
dlock_status zookeeper_session_open(struct zookeeper_session **out,
                                    const dlock_options *opts, const char *kind);

/* Ends the session, and so frees what is held in it.  NULL is fine. */
void zookeeper_session_close(struct zookeeper_session *session);

/* Does a server answer?  OK or IO. */
dlock_status zookeeper_session_check(struct zookeeper_session *session);

/* Make the directory of this kind of locks, if somebody has removed it. */
dlock_status zookeeper_session_make_root(struct zookeeper_session *session,
                                         int64_t deadline_ns);

#endif /* DLOCK_ZOOKEEPER_SESSION_H */
