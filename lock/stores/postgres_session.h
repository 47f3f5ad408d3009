/* SPDX-License-Identifier: MIT */
/* postgres_session.h -- locks that live with a connection: each hold has its own.
 *
 * A hold is found again by the note of its claim.  Its connection goes back to the pool
 * when it is released, and is hung up if anything about it is in doubt: the server then
 * frees what the session held.
 *
 * Threads     Any; a hold is begun and ended by its owner, and looked at by anybody.
 */
#ifndef DLOCK_POSTGRES_SESSION_H
#define DLOCK_POSTGRES_SESSION_H

#include "lock/stores/postgres_pool.h"

struct postgres_sessions; /* opaque */

/* As postgres_pool_open(); INVALID too behind a pooler of transactions, which gives no
 * connection a session of its own. */
dlock_status postgres_sessions_open(struct postgres_sessions **out,
                                    const dlock_options *opts);

/* Hangs up what is still held.  NULL is fine. */
void postgres_sessions_close(struct postgres_sessions *sessions);

struct postgres_pool *postgres_sessions_pool(struct postgres_sessions *sessions);

/* The claim was granted on `conn`: keep it, and write the claim's note.  NOMEM: the
 * connection is hung up, so the lock is freed. */
dlock_status postgres_session_keep(struct postgres_sessions *sessions,
                                   dlock_claim *claim, struct postgres_conn *conn);

/* Take the connection of the claim's hold for its release.  Then it is the caller's to
 * give back, and the hold is gone.  NULL: there is none, or it is lost already. */
struct postgres_conn *postgres_session_end(struct postgres_sessions *sessions,
                                           const dlock_claim *claim);

/* For the slot `probe`: OK, or LOST if the connection has ended. */
dlock_status postgres_session_probe(struct postgres_sessions *sessions,
                                    const dlock_claim *claim);

#endif /* DLOCK_POSTGRES_SESSION_H */
