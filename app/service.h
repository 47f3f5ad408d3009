/* SPDX-License-Identifier: MIT */
/* service.h -- what the parts of the service share, and what each thread has. */
#ifndef APP_SERVICE_H
#define APP_SERVICE_H

#include <stdatomic.h>

#include "base/http/admin_access.h"
#include "app/admission.h"
#include "app/config.h"
#include "app/metrics.h"
#include "app/readiness.h"
#include "app/sold_out.h"
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

/* Made once at the start; read-only afterwards but for what synchronizes itself. */
struct service {
    const struct config *config;
    const struct settings *settings;
    struct token_keys keys;
    struct admin_access admin_access;
    struct dlock_system *locks;
    struct admission *admission; /* NULL: everybody is let in */
    const struct order_path *path; /* how orders become rows */
    struct lanes *lanes;         /* orders that wait for one another, if the path lets them */
    struct stream *stream;       /* of --order-path=stream; else NULL */
    struct stream_writer *stream_writer; /* the same */
    struct sale_terms terms;     /* of every sale */
    struct metrics *metrics;
    struct partitions *databases; /* what requests share */
    struct voucher_cache *vouchers;
    struct sold_out sold_out;
    struct readiness *readiness;
    atomic_bool is_leaving; /* told to stop: /readyz says so */
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
};

/* Reach the stores: the lock's, the admission's, then PostgreSQL, for as long as
 * --start-timeout says.
 *   VALID         all answered
 *   USAGE         the lock cannot be used with these settings
 *   UNAVAILABLE   one did not answer, or refused
 * On anything but VALID the log says what. */
enum exit_code service_open(struct service *s, const struct config *config,
                            const struct settings *settings);
/* No worker may be left.  A zeroed struct is fine. */
void service_close(struct service *s);

/* NULL: no memory. */
struct worker *worker_new(struct service *s);

void worker_free(struct worker *w);

/* Choose the database that the request needs, by its number or by a voucher of it, and be busy
 * with it until worker_leave(): so a database that hangs cannot take all workers.
 *   ACCEPTED         it is w->partition
 *   DATABASE_BUSY    too many requests are busy with that database; the log says so
 *   UNKNOWN_VOUCHER  the voucher's id is of no database here */
enum outcome worker_enter(struct worker *w, size_t partition);
enum outcome worker_enter_voucher(struct worker *w, int64_t voucher_id);
/* Nothing happens if it is inside none.  The worker has no connection. */
void worker_leave(struct worker *w);

/* Choose the database of a voucher without a bound, for a thread of its own.  False: the
 * voucher's id is of no database here. */
bool worker_choose_voucher(struct worker *w, int64_t voucher_id);

/* Take one of the connections that requests share into w->db, of the database w->partition, waiting for it as long as
 * --database-wait says.  Not while the worker has one; see db/pool.h for what must not be
 * waited for while it has.
 *   ACCEPTED       give it back with worker_give_db()
 *   DATABASE_BUSY  the time passed; the log says so
 *   UNAVAILABLE    PostgreSQL does not answer; the log says what was said */
enum outcome worker_take_db(struct worker *w);
/* The outcome for the client after a failed run on w->db, where no COMMIT was sent: INTERNAL
 * or UNAVAILABLE.  The log says why. */
enum outcome worker_db_failed(struct worker *w, enum db_status st);
/* Give it back; nothing happens if there is none.  An open transaction is rolled back. */
void worker_give_db(struct worker *w);

#endif /* APP_SERVICE_H */
