/* SPDX-License-Identifier: MIT */
/* metrics.h -- what the service counts, and how Prometheus reads it.
 *
 * Every worker thread counts in a cell of its own; a scrape adds the cells up.  A
 * histogram's _count is the sum of the buckets just read, so that a scrape never
 * contradicts itself.
 *
 * Threads     A cell is written by one thread; everything else may be called by any.
 */
#ifndef APP_METRICS_H
#define APP_METRICS_H

#include "app/histogram.h"
#include "app/outcome.h"
#include "base/http/connections.h"
#include "base/text/text.h"
#include "db/pool.h"
#include "lock/dlock.h"

/* The part of the service that stopped an order. */
#define METRICS_LAYERS(X)                                                              \
    X(ADMISSION, "admission")                                                          \
    X(LOCK, "lock")                                                                    \
    X(HINT, "sold-out-hint")                                                           \
    X(COUNT, "count")                                                                  \
    X(UNIQUE, "unique")                                                                \
    X(FENCE, "fence")                                                                  \
    X(STOCK_GUARD, "stock-guard")

enum metrics_layer {
#define X(id, name) LAYER_##id,
    METRICS_LAYERS(X)
#undef X
    LAYER_COUNT_OF
};

enum { METRICS_LOCK_STATUSES = 16 }; /* dlock_status values are below this */

struct metrics_cell {
    atomic_uint_fast64_t orders[OUTCOME_COUNT]; /* ACCEPTED: sold by this process */
    atomic_uint_fast64_t replayed;              /* accepted, but sold before */
    atomic_uint_fast64_t stopped[LAYER_COUNT_OF];
    atomic_uint_fast64_t admitted[METRICS_LOCK_STATUSES];
    atomic_uint_fast64_t dismissed[METRICS_LOCK_STATUSES];
    atomic_uint_fast64_t acquired[METRICS_LOCK_STATUSES];
    atomic_uint_fast64_t released[METRICS_LOCK_STATUSES];
    atomic_uint_fast64_t abandoned; /* locks left to their lease */
    atomic_uint_fast64_t settled; /* COMMITs whose answer was lost */
    atomic_uint_fast64_t batches; /* of two orders and more */
    atomic_uint_fast64_t batched; /* orders in them */
    struct histogram order_time;
    struct histogram other_time;
    struct histogram lock_wait;
    struct histogram database_wait;
    struct histogram lock_hold;
};

struct metrics; /* opaque */

/* Facts that stand beside the numbers. */
struct metrics_facts {
    const char *lock;
    const char *admission;
    const char *stock_guard;
    const char *process;
    const char *order_path;
    int64_t orders_waiting; /* for the leader of a batch */
    int64_t workers_busy;
    int64_t workers_total;
    int64_t workers_waiting;
    uint64_t workers_timed_out;
    struct db_pool_stats database;
};

/* NULL: no memory. */
struct metrics *metrics_new(void);
void metrics_free(struct metrics *m);

/* A cell for the calling thread; it lives as long as `m`.  NULL: no memory. */
struct metrics_cell *metrics_cell(struct metrics *m);

/* Count one. */
void metrics_count(atomic_uint_fast64_t *counter);

/* A lock was lost while it was held.  Any thread. */
void metrics_lock_lost(struct metrics *m);

/* Write everything in Prometheus' text format. */
void metrics_write(struct metrics *m, const struct metrics_facts *facts,
                   struct text *out);

/* The same of what the lock library counted. */
void metrics_write_locks(const dlock_metrics *m, const char *variant, struct text *out);

/* The same of the connections of clients. */
void metrics_write_connections(struct connections *connections, struct text *out);

/* The two lines above a metric. */
void metrics_head(struct text *out, const char *name, const char *type,
                  const char *help);

#endif /* APP_METRICS_H */
