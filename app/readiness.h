/* SPDX-License-Identifier: MIT */
/* readiness.h -- can orders be taken now?  Probes of the lock's store and of each PostgreSQL.
 *
 * A probe does a harmless piece of what an order does.  That of the lock takes and releases
 * locks of the service's own kind, under names that no order has.  That of PostgreSQL reads
 * one row and asks whether the database can be written to.  Each has a thread and connections
 * of its own, so neither a busy service nor a store that hangs delays the answer.
 *
 * A probe runs at most once a second, however many ask, and not at all when nobody has asked
 * for a minute: the question that ends such a pause waits for the probe, for at most a second.
 *
 * Threads     Any may ask.
 */
#ifndef APP_READINESS_H
#define APP_READINESS_H

#include <stdbool.h>

#include "app/config.h"

enum { READINESS_SAID_MAX = 400 };

struct readiness; /* opaque */

/* The stores that are asked, with their names on /readyz and /metrics. */
#define READINESS_STORES(X)                                                            \
    X(POSTGRESQL, "postgresql")                                                        \
    X(LOCKS, "locks")

enum readiness_store {
#define X(id, name) READINESS_##id,
    READINESS_STORES(X)
#undef X
    READINESS_STORE_COUNT
};

/* The last answers of the probes. */
struct readiness_report {
    bool is_ready;                       /* the locks are "ok", and a PostgreSQL is */
    bool is_store_ready[READINESS_STORE_COUNT]; /* what follows is "ok" for it */
    char locks[READINESS_SAID_MAX];      /* "ok", or what is wrong */
    char postgresql[READINESS_SAID_MAX]; /* the same; with several, each that is not well */
};

/* Start the threads; the settings must outlive them.  NULL: no memory, or no thread. */
struct readiness *readiness_start(const struct config *c);

/* End them, which may take as long as a probe that is under way.  Nobody may ask any more.
 * NULL is fine. */
void readiness_stop(struct readiness *r);

/* Say what the probes of the last second said.  A probe that has been under way for 2 s
 * counts as a store that does not answer. */
void readiness_ask(struct readiness *r, struct readiness_report *out);

#endif /* APP_READINESS_H */
