/* SPDX-License-Identifier: MIT */
/* zookeeper_session.h -- the one session with ZooKeeper that a system's locks live in.
 *
 * A session survives lost connections, until the server has heard nothing of it for the
 * session timeout; then the server deletes its nodes. Each session of a system has a
 * number, its `epoch`: what was made in one epoch is gone in the next.
 *
 * How long the server keeps the session is known from the requests that it answered:
 * not less than the timeout from when the last of them was sent. A session that was not
 * heard of for so long is given up, also if it may still be there: nobody must rely on
 * it any more. The next one is opened in the background, with a back-off of 20 ms,
 * doubling to 1 s. So after a freeze of the process the clock tells, before any
 * message.
 *
 * One thread, the keeper, opens and closes sessions, sends heartbeats, and settles
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
#include "lock/stores/zookeeper_path.h"

struct zookeeper_session; /* opaque */
struct zookeeper_debts;
struct zookeeper_watches;

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

/* Wait for a connection, until `deadline_ns`, and no longer than the timeout of a
 * request since it was lost: after that everything fails at once. OK and *epoch, or
 * IO. */
dlock_status zookeeper_session_await(struct zookeeper_session *session,
                                     int64_t deadline_ns, uint64_t *epoch);

/* May a request that went wrong in session `epoch` be tried again, before
 * `deadline_ns`? Waits for a connection. False: the session is over, or it is too
 * late. */
bool zookeeper_session_again(struct zookeeper_session *session, int64_t deadline_ns,
                             uint64_t epoch);

/* Does the server certainly keep the session `epoch`?  No I/O, no mutex. */
bool zookeeper_session_is_alive(const struct zookeeper_session *session,
                                uint64_t epoch);

/* When a request that begins now has to be over: after the timeout of the options, or
 * at give_up_ns if that is earlier. */
int64_t zookeeper_session_deadline_ns(const struct zookeeper_session *session,
                                      int64_t give_up_ns);

/* Make the directory of this kind of locks, if somebody has removed it. */
dlock_status zookeeper_session_make_root(struct zookeeper_session *session,
                                         int64_t deadline_ns);

struct zookeeper_debts *zookeeper_session_debts(struct zookeeper_session *session);
struct zookeeper_watches *zookeeper_session_watches(struct zookeeper_session *session);

/* There is something for the keeper to do. */
void zookeeper_session_wake_keeper(struct zookeeper_session *session);

/* For tests: the server's name for the session and the password to it (16 bytes).
 * False: there is no session now. */
bool zookeeper_session_identity(struct zookeeper_session *session, int64_t *id,
                                char password[16]);

/* --- for lock/stores/zookeeper_*.c --- */

struct _zhandle;

/* Between these two the handle is the caller's to give requests to.  NULL: `epoch` is
 * over, or there is no connection; then there is nothing to unlock. */
struct _zhandle *zookeeper_session_lock(struct zookeeper_session *session,
                                        uint64_t epoch);
void zookeeper_session_unlock(struct zookeeper_session *session);

/* The server answered a request that was sent then. */
void zookeeper_session_heard(struct zookeeper_session *session, uint64_t epoch,
                             int64_t sent_ns);

#endif /* DLOCK_ZOOKEEPER_SESSION_H */
