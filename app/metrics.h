/* SPDX-License-Identifier: MIT */
/* metrics.h -- the metrics of the service, and their text for Prometheus; the one list
 * is metrics.def.
 *
 * Every worker counts in a cell, which it shares with other workers only if there are
 * many.  A scrape adds the cells up.  The _count of a histogram is the sum of the
 * buckets that were just read, so that a scrape is consistent in itself.
 *
 * Threads     Any.
 */
#ifndef APP_METRICS_H
#define APP_METRICS_H

#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

#include "app/outcome.h"
#include "app/readiness.h"
#include "base/http/connections.h"
#include "base/redis/traffic.h"
#include "base/text/text.h"
#include "app/partitions.h"
#include "lock/dlock.h"

/* The part of the service that stopped an order. */
#define METRICS_LAYERS(X)                                                              \
    X(ADMISSION, "admission")                                                          \
    X(LOCK, "lock")                                                                    \
    X(HINT, "sold-out-hint")                                                           \
    X(SCRIPT, "script")                                                                \
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

/* The index after the outcomes, for a request whose order was accepted before. */
enum { METRICS_REPLAYED = OUTCOME_COUNT };

enum metrics_route { METRICS_ORDER, METRICS_OTHER, METRICS_ROUTES };

/* The number of values of a label, and so the number of lines that a metric can have. */
enum {
#define LABEL(id, name, size, value) METRICS_SIZE_##id = (size),
#include "app/metrics.def"
};
#define LABELS_0 1
#define LABELS_1(a) METRICS_SIZE_##a
#define LABELS_2(a, b) (METRICS_SIZE_##a * METRICS_SIZE_##b)
#define LABELS_3(a, b, c) (METRICS_SIZE_##a * METRICS_SIZE_##b * METRICS_SIZE_##c)

enum {
    METRICS_BUCKET_BITS = 2, /* four buckets for each doubling, see base/os/histogram.h          */
    METRICS_BUCKETS = 104,   /* of microseconds: the last one, from 117 s on, has all longer ones */
};

/* Durations in microseconds, or sizes: N things are counted as N microseconds. */
struct metrics_histogram {
    atomic_uint_fast64_t buckets[METRICS_BUCKETS];
    atomic_uint_fast64_t sum;
};

/* The sum of several histograms. */
struct metrics_histogram_sum {
    uint64_t buckets[METRICS_BUCKETS];
    uint64_t sum;
};

/* A field for each metric that the threads of the service count. */
struct metrics_cell {
#define COUNTER(field, name, unit, labels, counted_in, help) atomic_uint_fast64_t field;
#define COUNTER_BY(field, name, unit, labels, counted_in, help)                        \
    atomic_uint_fast64_t field[labels];
#define DURATION(field, name, labels, counted_in, help) struct metrics_histogram field;
#define SIZE(field, name, unit, labels, counted_in, help) struct metrics_histogram field;
#define DURATION_BY(field, name, labels, counted_in, help)                             \
    struct metrics_histogram field[labels];
#include "app/metrics.def"
};

#undef LABELS_0
#undef LABELS_1
#undef LABELS_2
#undef LABELS_3

struct metrics; /* opaque */

/* The values that are not in cells: the values of labels, and the figures of other
 * parts of the service. */
struct metrics_facts {
    const char *lock;
    const char *admission;
    const char *stock_guard;
    const char *process;
    const char *order_path;
    int64_t failed;         /* requests that were answered with a 5xx */
    int64_t orders_waiting; /* for the leader of a batch */
    int64_t orders_waiting_max, voucher_orders_waiting_max;
    int64_t stream_length;  /* orders in the stream; 0 without a stream */
    int64_t workers_busy;
    int64_t workers_total;
    int64_t workers_waiting;
    uint64_t workers_timed_out;
    int64_t started_us, cpu_us, resident_bytes, open_fds, max_fds; /* of the process */
    struct readiness_report readiness; /* as on /readyz */
    struct redis_traffic redis;        /* of all connections of this process */
    struct db_pool_stats database; /* the sums over all partitions */
    size_t partition_count;
    struct partition_stats partitions[PARTITIONS_MAX];
    struct connections_stats connections;
    dlock_metrics locks;
};

/* NULL: no memory. */
struct metrics *metrics_new(void);
void metrics_free(struct metrics *m);

/* Get a cell to count in, which lives as long as `m`.  NULL: no memory. */
struct metrics_cell *metrics_cell(struct metrics *m);

/* Add one to a counter. */
void metrics_count(atomic_uint_fast64_t *counter);

/* Count a duration, of which a negative one counts as 0, or a size.  Any thread. */
void metrics_record_duration(struct metrics_histogram *h, int64_t duration_ns);
void metrics_record_size(struct metrics_histogram *h, uint64_t size);

/* Count a hold that was lost.  Any thread. */
void metrics_lock_lost(struct metrics *m);

/* The number of holds that were lost.  Any thread. */
int64_t metrics_locks_lost(struct metrics *m);

/* The sum over all cells of the counter at `offset` in a cell.  Any thread. */
uint64_t metrics_total(struct metrics *m, size_t offset);

/* The same of the histogram at `offset`; added to *sum.  Any thread. */
void metrics_collect(struct metrics *m, size_t offset, struct metrics_histogram_sum *sum);

/* Write every metric of metrics.def in Prometheus' text format.  Any thread. */
void metrics_write(struct metrics *m, const struct metrics_facts *facts,
                   struct text *out);

#endif /* APP_METRICS_H */
