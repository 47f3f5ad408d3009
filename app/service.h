/* SPDX-License-Identifier: MIT */
/* service.h -- the state of the service, which all its parts share, and a worker. */
#ifndef APP_SERVICE_H
#define APP_SERVICE_H

#include <stdatomic.h>

#include "base/http/admin_access.h"
#include "app/admission.h"
#include "app/config.h"
#include "app/metrics.h"
#include "app/readiness.h"
#include "app/sold_out.h"
#include "app/unknown_orders.h"
#include "base/text/text.h"
#include "app/voucher_cache.h"
#include "base/text/exit_codes.h"
#include "base/http/token.h"
#include "db/conn.h"
#include "app/partitions.h"
#include "db/sale_types.h"
#include "lock/dlock.h"

struct order_path;
struct stream;
struct stream_writer;

/* Made once at the start.  Later the fields are constant, and the objects behind them
 * do their own locking. */
struct service {
    const struct config *config;
    const struct settings *settings;
    struct token_keys keys;
    struct admin_access admin_access;
    struct dlock_system *locks;
    struct admission *admission; /* NULL: every order is let in */
    const struct order_path *path; /* how orders become rows */
    struct lanes *lanes;         /* orders that wait for one another, if the path lets them */
    struct stream *stream;       /* of --order-path=stream; else NULL */
    struct stream_writer *stream_writer; /* the same */
    struct sale_terms terms;     /* of every sale */
    struct metrics *metrics;
    struct partitions *databases; /* the pools that requests share */
    struct voucher_cache *vouchers;
    struct sold_out sold_out;
    struct unknown_orders unknown_orders;
    struct readiness *readiness;
    int64_t started_us;         /* since 1970 */
    atomic_llong failed; /* the requests for orders and queries that were answered with a 5xx */
    atomic_bool is_leaving; /* the service was told to stop, and /readyz says so */
    struct connections *connections; /* of the listeners, while there are any */
    struct worker_pool *workers[2];        /* of each listener */
};

/* The memory and the connections for one request in progress; worker_pool.h hands workers out. */
struct worker {
    struct service *service;
    struct db_conn *db; /* between worker_take_db() and worker_give_db(); else NULL */
    size_t partition;   /* the database that worker_take_db() asks; 0 until it is chosen */
    bool is_inside;     /* between worker_enter() and worker_leave() */
    struct metrics_cell *cell;
    const char *busy_why; /* after DATABASE_BUSY: a sentence for the client, and a literal */
    bool rests;           /* see app/worker_pool.h */
    struct worker *next_idle; /* in its pool */
};

/* Connect to the stores: the lock's, the admission's, the stream's, then PostgreSQL,
 * within --start-timeout.  Start the threads of the probes and of the writer.
 *   VALID         all answered
 *   USAGE         a setting cannot be used: of the lock, the admission, the stream or
 *                 the faults
 *   UNAVAILABLE   a store did not answer, or refused; no memory, or no thread
 * After any other answer than VALID the log has the reason. */
enum exit_code service_open(struct service *s, const struct config *config,
                            const struct settings *settings);
/* Close the stores and free the memory.  No worker may be left.  A zeroed struct is
 * fine. */
void service_close(struct service *s);

/* The connecting of service_open(): set s->locks, s->admission, s->stream and s->databases.
 * A store that does not answer, or answers that it is still starting, is asked again; one that
 * refuses for a lasting reason is not.  Answers as service_open(), and
 *   UNAVAILABLE   too if this service might sell twice
 *   CANNOT_WRITE  the file of --record cannot be made */
enum exit_code stores_open(struct service *s);

/* NULL: no memory. */
struct worker *worker_new(struct service *s);

void worker_free(struct worker *w);

/* Choose the database of the request, by its number or by a voucher, and count as its
 * user until worker_leave().  The number of users of a database is limited, so a
 * database that hangs cannot occupy all workers.
 *   ACCEPTED         w->partition is the database
 *   DATABASE_BUSY    too many requests use that database; the log says so
 *   UNKNOWN_VOUCHER  the voucher's id is of no database here */
enum outcome worker_enter(struct worker *w, size_t partition);
enum outcome worker_enter_voucher(struct worker *w, int64_t voucher_id);
/* Stop counting as a user of the database; does nothing if the worker uses none.  The
 * worker has no connection. */
void worker_leave(struct worker *w);

/* Choose the database of a voucher without the limit, for a thread that is not a
 * request's.  False: the voucher's id is of no database here. */
bool worker_choose_voucher(struct worker *w, int64_t voucher_id);

/* Take a connection to the database w->partition from the shared pool into w->db,
 * waiting at most --database-wait.  The worker must not have a connection already.
 * db/pool.h lists the waits that are forbidden while it has one.
 *   ACCEPTED       give it back with worker_give_db()
 *   DATABASE_BUSY  --database-wait has passed; the log says so
 *   UNAVAILABLE    PostgreSQL does not answer; the log has the reason */
enum outcome worker_take_db(struct worker *w);
/* Refuse the worker's request for the reason `why`, a literal.  Returns DATABASE_BUSY. */
enum outcome worker_is_busy(struct worker *w, const char *why);
/* The outcome for the client after a failed run on w->db, where no COMMIT was sent: INTERNAL
 * or UNAVAILABLE.  The log says why. */
enum outcome worker_db_failed(struct worker *w, enum db_status st);
/* Give the connection back; does nothing if there is none.  An open transaction is
 * rolled back. */
void worker_give_db(struct worker *w);

#endif /* APP_SERVICE_H */
