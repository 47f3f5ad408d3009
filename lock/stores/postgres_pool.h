/* SPDX-License-Identifier: MIT */
/* postgres_pool.h -- the lock library's connections to PostgreSQL.
 *
 * A thread that needs a connection takes one and gives it back; a lock that lives with
 * its session keeps the connection that took it.  So the number of connections is at
 * most the number of threads inside a call plus the number of held session locks.
 *
 * Threads     Any.
 */
#ifndef DLOCK_POSTGRES_POOL_H
#define DLOCK_POSTGRES_POOL_H

#include "lock/stores/postgres_question.h"

struct postgres_pool; /* opaque */

/* Check opts->database_url and database_pooler, connect once, and look for the tables of
 * postgres.sql.  Also checks that the pooler is the one that the options name: without
 * a pooler, the session of a connection must be the one that the server names; with a
 * pooler of sessions, two connections must have two sessions.
 *   OK, INVALID, IO, PROTOCOL (with what to do), NOMEM */
dlock_status postgres_pool_open(struct postgres_pool **out, const dlock_options *opts);

/* The pooler before the server, as the options named it. */
enum postgres_pooler postgres_pool_pooler(const struct postgres_pool *pool);

/* Close the idle connections and free the pool.  All connections have been given back.
 * NULL is fine. */
void postgres_pool_close(struct postgres_pool *pool);

/* Take an idle connection, or make a new one until give_up_ns; the caller gives it back
 * with postgres_give().  OK; or a failure, and *out is NULL. After a failure to connect
 * before give_up_ns, later calls answer the same failure without trying, for a pause of
 * 20 ms that doubles up to 1 s. */
dlock_status postgres_take(struct postgres_pool *pool, int64_t give_up_ns,
                           struct postgres_conn **out);

/* Give a connection back.  A broken connection, or one with an open transaction, is
 * closed. */
void postgres_give(struct postgres_pool *pool, struct postgres_conn *conn);

/* Take a connection, ask the question, give the connection back.  Answers as
 * postgres_take() and postgres_ask(). */
dlock_status postgres_pool_ask(struct postgres_pool *pool,
                               const struct postgres_question *question,
                               const char *const *values, int64_t give_up_ns,
                               struct postgres_answer *out);

/* Ask a question about the lock `name` whose answer has the form of info.h.  No row:
 * the lock is free. */
dlock_status postgres_inspect(struct postgres_pool *pool,
                              const struct postgres_question *question,
                              const char *name, dlock_info *out);

/* A query that ends the sessions of `holders`, which is a query with a column pid.
 * Each session has a second to end.  Its answer is the number of sessions; -1: one has
 * not ended yet. */
#define POSTGRES_END_SESSIONS(holders)                                                 \
    "SELECT CASE WHEN bool_and(has_ended) IS FALSE THEN -1 ELSE count(*) END FROM"     \
    " (SELECT pg_terminate_backend(pid, 1000) AS has_ended FROM (" holders             \
    ") AS holder) AS told"

/* Ask a question that frees the lock `name`, and whose answer is the number of locks
 * freed.  OK; LOST: the number is 0; UNKNOWN: the number is -1; or a failure. */
dlock_status postgres_force(struct postgres_pool *pool,
                            const struct postgres_question *question,
                            const char *name);

/* Does the server answer?  OK, or a failure. */
dlock_status postgres_ping(struct postgres_pool *pool);

/* May the user read and write this table of postgres.sql?  OK; PROTOCOL, and dlock_error()
 * names the missing rights; IO. */
dlock_status postgres_check_rights(struct postgres_pool *pool, const char *table);

/* True for one caller in every `every_ms`: it is time to clean up. */
bool postgres_is_time_to_reap(struct postgres_pool *pool, int64_t every_ms);

#endif /* DLOCK_POSTGRES_POOL_H */
