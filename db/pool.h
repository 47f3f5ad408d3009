/* SPDX-License-Identifier: MIT */
/* pool.h -- a bounded number of connections to PostgreSQL, shared by many threads.
 *
 *     struct db_taken taken;
 *
 *     if (db_pool_take(pool, 2000, &taken) == DB_OK) {
 *         (void)db_run_one(taken.db, &STATEMENT, NULL);
 *         db_pool_give(pool, taken.db);
 *     }
 *
 * A thread of the pool opens the connections, one after another, and opens a lost
 * connection again after the back-off of conn.h.  So a caller is never held up by an
 * attempt to connect while another connection becomes free.
 *
 * Order       Callers that wait get connections in the order of their arrival.  A
 *             connection that is given back goes straight to the first of them.
 * Outage      The pool is down when no connection is open and the last attempt to open one
 *             failed, or the last one was lost to a silent server.  Then every caller,
 *             also one that waits already, gets LOST at once, until an attempt
 *             succeeds.  A pool whose URL names several hosts, or that has a pooler
 *             before its server, is never down: a caller waits its whole time, because
 *             another server may be promoted, or the pooler may come back, in that
 *             time.
 * Deadlock    A thread that has a connection must not wait for a distributed lock, for
 *             a second connection of the pool, or for a client's socket.  So such a
 *             thread waits for PostgreSQL alone, db_run() limits that wait, and every
 *             connection comes back.  A thread may wait for a connection while it holds
 *             a distributed lock: no thread that has a connection waits for that lock,
 *             so no circular wait arises.  A row's lock belongs to a transaction, and a
 *             transaction has its connection.
 * Threads     Any thread may take and give.  Between the two the connection belongs to the
 *             thread that took it.
 */
#ifndef DB_POOL_H
#define DB_POOL_H

#include "db/conn.h"

enum { DB_POOL_MAX = 1024, DB_POOL_WHY_MAX = 512 };

struct db_pool; /* opaque */

/* The result of a take. */
struct db_taken {
    struct db_conn *db;        /* NULL unless the answer was OK */
    int64_t waited_ns;         /* from the call to its answer */
    char why[DB_POOL_WHY_MAX]; /* unless OK: one sentence for people; else "" */
};

/* The numbers of one instant, and the sums since the pool was made. */
struct db_pool_stats {
    int64_t size;    /* connections at most */
    int64_t open;    /* connections that are open, in use or not */
    int64_t in_use;  /* connections that callers have */
    int64_t waiting; /* callers that wait for one */
    uint64_t taken;     /* takes answered OK */
    uint64_t queued;    /* takes that found none free and waited */
    uint64_t timed_out; /* takes answered TIMEOUT */
    uint64_t refused;   /* takes answered LOST */
    uint64_t opened;    /* connections that were opened, again or for the first time */
    uint64_t failed;    /* attempts to open one that failed */
};

/* Make a pool of `size` connections (1 to DB_POOL_MAX) and begin to open them; strings of
 * `opts` are copied.  NULL: no memory, or no thread.  The caller must db_pool_free(). */
struct db_pool *db_pool_new(const struct db_options *opts, size_t size);

/* Close all connections and free the pool.  No thread may have a connection or wait for
 * one.  If an attempt to connect is under way, the call waits for its end, at most the
 * connect timeout.  NULL is fine. */
void db_pool_free(struct db_pool *pool);

/* Take a connection, waiting for one for at most `wait_ms`.
 *   OK       taken->db is open and in no transaction; give it back with db_pool_give()
 *   TIMEOUT  the time passed, and all connections were in use
 *   LOST     the pool is down; taken->why ends with the message of the server or
 *            libpq */
enum db_status db_pool_take(struct db_pool *pool, int64_t wait_ms,
                            struct db_taken *taken);

/* Give a connection back, also a broken one.  If a transaction is open, the connection
 * is closed, so that the server rolls it back.  Results of the connection are freed. */
void db_pool_give(struct db_pool *pool, struct db_conn *db);

void db_pool_read_stats(struct db_pool *pool, struct db_pool_stats *out);

#endif /* DB_POOL_H */
