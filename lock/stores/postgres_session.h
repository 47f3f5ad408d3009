/* SPDX-License-Identifier: MIT */
/* postgres_session.h -- locks that live with a connection: each hold has its own.
 *
 * A hold is found again by the note of its claim.  Its connection goes back to the pool
 * when the hold is released.  If the outcome of a request is unknown, the connection is
 * closed, so that the server frees the locks of the session.
 *
 * Threads     Any; a hold is begun and ended by its owner, and probed by any thread.
 */
#ifndef DLOCK_POSTGRES_SESSION_H
#define DLOCK_POSTGRES_SESSION_H

#include "lock/stores/postgres_pool.h"

struct postgres_sessions; /* opaque */

/* As postgres_pool_open(); INVALID also behind a pooler of transactions, because a
 * connection has no session of its own there. */
dlock_status postgres_sessions_open(struct postgres_sessions **out,
                                    const dlock_options *opts);

/* Close the connections of all holds, and free the memory.  NULL is fine. */
void postgres_sessions_close(struct postgres_sessions *sessions);

struct postgres_pool *postgres_sessions_pool(struct postgres_sessions *sessions);

/* The claim was granted on `conn`: keep it, and write the claim's note.  NOMEM: the
 * connection is closed, so the server frees the lock. */
dlock_status postgres_session_keep(struct postgres_sessions *sessions,
                                   dlock_claim *claim, struct postgres_conn *conn);

/* End the hold of the claim, and take its connection for the release.  The caller gives
 * the connection back to the pool.  NULL: there is no such hold, or it is lost
 * already. */
struct postgres_conn *postgres_session_end(struct postgres_sessions *sessions,
                                           const dlock_claim *claim);

/* For the slot `probe`: OK, or LOST if the connection has ended. */
dlock_status postgres_session_probe(struct postgres_sessions *sessions,
                                    const dlock_claim *claim);

#endif /* DLOCK_POSTGRES_SESSION_H */
