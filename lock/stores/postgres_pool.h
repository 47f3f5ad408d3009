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

/* A statement that renews many rows, which costs one round trip and one write to the disk:
 * `is_held` is true of the row `l` that the claim `a` holds, and `end` is
 * the new end of its lease.  It skips a row that another transaction has locked.  Its
 * answer has a letter for each claim: 1, the row was renewed; 2, it was skipped; 0, there
 * is no such row. */
#define POSTGRES_RENEW_ALL(table, id, is_held, end)                                    \
    {{"renew_all",                                                                     \
      "WITH asked AS (SELECT decode(split_part(item, ' ', 1), 'hex') AS name,"         \
      " split_part(item, ' ', 2) AS owner, split_part(item, ' ', 3) AS token,"         \
      " split_part(item, ' ', 4)::int * interval '1 ms' AS lease, n"                   \
      " FROM unnest(string_to_array($1, ',')) WITH ORDINALITY AS items (item, n)),"    \
      " found AS (SELECT l." id " AS id, a.lease, a.n FROM " table " AS l, asked AS a" \
      " WHERE l.name = a.name AND " is_held " FOR UPDATE OF l SKIP LOCKED),"           \
      " renewed AS (UPDATE " table " AS l SET expires_at = " end                       \
      " FROM found AS a WHERE l." id " = a.id RETURNING a.n)"                          \
      " SELECT string_agg(CASE WHEN a.n IN (SELECT n FROM renewed) THEN '1' WHEN"      \
      " EXISTS (SELECT FROM " table " AS l WHERE l.name = a.name AND " is_held ")"     \
      " THEN '2' ELSE '0' END, '' ORDER BY a.n) FROM asked AS a",                      \
      "t"},                                                                            \
     .shape = {.kind = POSTGRES_TEXT}}

/* The slot renew_all, by such a statement.  `renew` is the slot, which is asked for each
 * row that was skipped. */
void postgres_renew_all(struct postgres_pool *pool, const struct postgres_question *question,
                        dlock_status renew(void *state, const dlock_claim *claim),
                        const dlock_claim *claims, size_t count, dlock_status *statuses);

#endif /* DLOCK_POSTGRES_POOL_H */
