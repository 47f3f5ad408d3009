/* SPDX-License-Identifier: MIT */
/* postgres_pool.h -- the lock library's connections to PostgreSQL.
 *
 * A thread that needs a connection takes one and gives it back; a lock that lives with
 * its session keeps the connection that took it.  So there are at most as many as threads
 * inside a call and held session locks together.
 *
 * Threads     Any.
 */
#ifndef DLOCK_POSTGRES_POOL_H
#define DLOCK_POSTGRES_POOL_H

#include "lock/stores/postgres_question.h"

struct postgres_pool; /* opaque */

/* Check opts->database_url and database_pooler, connect once, and look for the tables of
 * postgres.sql.  Without a pooler, a connection must be the session that the server says it
 * is; with one of sessions, two connections must have two sessions.
 *   OK, INVALID, IO, PROTOCOL (with what to do), NOMEM */
dlock_status postgres_pool_open(struct postgres_pool **out, const dlock_options *opts);

/* What stands before the server, as the options said. */
enum postgres_pooler postgres_pool_pooler(const struct postgres_pool *pool);

/* No thread may have a connection any more.  NULL is fine. */
void postgres_pool_close(struct postgres_pool *pool);

/* Take an idle connection, or make one.  After a failure to connect the next tries are
 * refused with IO for a back-off of 20 ms, doubling to 1 s. */
dlock_status postgres_take(struct postgres_pool *pool, struct postgres_conn **out);

/* Give it back.  A broken one, or one with an open transaction, is hung up. */
void postgres_give(struct postgres_pool *pool, struct postgres_conn *conn);

/* Take, ask, give. */
dlock_status postgres_pool_ask(struct postgres_pool *pool,
                               const struct postgres_question *question,
                               const char *const *values, int64_t give_up_ns,
                               struct postgres_answer *out);

/* Ask a question about the lock `name` that answers as dlock_info_read() takes it; no
 * row is a free lock. */
dlock_status postgres_inspect(struct postgres_pool *pool,
                              const struct postgres_question *question,
                              const char *name, dlock_info *out);

/* A query that ends the sessions of `holders`, a query with a column pid: each has a second
 * to end.  Answers how many there were; -1: one has not ended yet. */
#define POSTGRES_END_SESSIONS(holders)                                                 \
    "SELECT CASE WHEN bool_and(has_ended) IS FALSE THEN -1 ELSE count(*) END FROM"     \
    " (SELECT pg_terminate_backend(pid, 1000) AS has_ended FROM (" holders             \
    ") AS holder) AS told"

/* Ask a question that frees the lock `name`, and answers how many it freed: OK, LOST if
 * that is none, or UNKNOWN if it is -1. */
dlock_status postgres_force(struct postgres_pool *pool,
                            const struct postgres_question *question,
                            const char *name);

/* Does the server answer? */
dlock_status postgres_ping(struct postgres_pool *pool);

/* True for one caller in every `every_ms`: it is time to clean up. */
bool postgres_is_time_to_reap(struct postgres_pool *pool, int64_t every_ms);

#endif /* DLOCK_POSTGRES_POOL_H */
