/* SPDX-License-Identifier: MIT */
/* service.h -- what the parts of the service share, and what each thread has. */
#ifndef APP_SERVICE_H
#define APP_SERVICE_H

#include <pthread.h>

#include "app/admission.h"
#include "app/config.h"
#include "app/metrics.h"
#include "app/sold_out.h"
#include "app/text.h"
#include "app/voucher_cache.h"
#include "base/exit_codes.h"
#include "base/token.h"
#include "db/conn.h"
#include "db/guard.h"
#include "lock/dlock.h"

/* Which threads have a connection to PostgreSQL, while the service starts. */
struct first_connections {
    pthread_mutex_t mutex;
    int64_t tried;
    int64_t given;
    char why[256]; /* what the server said to the last one that it refused */
};

/* Made once at the start; read-only afterwards but for what synchronizes itself. */
struct service {
    const struct config *config;
    const struct settings *settings;
    struct token_key key;
    struct dlock_system *locks;
    struct admission *admission; /* NULL: everybody is let in */
    const struct stock_guard *guard;
    struct metrics *metrics;
    struct sold_out sold_out;
    bool splits_commit;       /* something may have to happen just before the COMMIT */
    atomic_long workers_busy; /* order threads that hold a connection */
    struct first_connections first;
};

/* What one thread works with. */
struct worker {
    struct service *service;
    struct db_conn *db;
    struct metrics_cell *cell;
    struct voucher_cache vouchers;
    struct text body; /* of the answer being written */
    struct text head;
    const char *read_buffer; /* where this thread's requests begin; NULL: none yet */
    char *received; /* the body of the request; config->body_limit bytes and a NUL */
};

/* Reach the stores: the lock's, the admission's, then PostgreSQL.
 *   VALID         all answered
 *   USAGE         the lock cannot be used with these settings
 *   UNAVAILABLE   one did not answer
 * On anything but VALID the log says what. */
enum exit_code service_open(struct service *s, const struct config *config,
                            const struct settings *settings);
/* No worker may be left.  A zeroed struct is fine. */
void service_close(struct service *s);

/* NULL: no memory. */
struct worker *worker_new(struct service *s);

/* Every thread calls this once at its start, with its worker or NULL: connect, so that
 * the first order need not wait.  A server that refuses is asked again for 2 s: it may
 * still be busy with the connections of the service that was here before. */
void worker_connect_first(struct service *s, struct worker *w);

/* Wait until `count` threads have done so, for at most 10 s.  False: some got no
 * connection, and the log says how many of how many did. */
bool service_is_connected(struct service *s, int64_t count);
void worker_free(struct worker *w);

#endif /* APP_SERVICE_H */
