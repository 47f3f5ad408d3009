/* SPDX-License-Identifier: MIT */
/* metrics.c -- what the service counts, and how Prometheus reads it. */
#include "app/metrics.h"

#include <inttypes.h>
#include <stdlib.h>

#include "base/os/mutex.h"
#include "base/text/version.h"

struct node {
    struct metrics_cell cell;
    struct node *next;
};

struct metrics {
    struct dlock_mutex mutex; /* for adding a cell; cells are never taken away */
    _Atomic(struct node *) cells;
    atomic_uint_fast64_t lock_lost;
};

struct metrics *metrics_new(void)
{
    struct metrics *m = calloc(1, sizeof(*m));

    if (m != NULL)
        dlock_mutex_init(&m->mutex);
    return m;
}

void metrics_free(struct metrics *m)
{
    struct node *node = m != NULL ? atomic_load(&m->cells) : NULL;

    while (node != NULL) {
        struct node *next = node->next;

        free(node);
        node = next;
    }
    if (m != NULL)
        dlock_mutex_destroy(&m->mutex);
    free(m);
}

struct metrics_cell *metrics_cell(struct metrics *m)
{
    struct node *node = NULL;

    /* Two cells must not share a cache line. */
    if (posix_memalign((void **)&node, 64, (sizeof(*node) + 63) / 64 * 64) != 0)
        return NULL;
    *node = (struct node){0};
    dlock_mutex_lock(&m->mutex);
    node->next = atomic_load(&m->cells);
    atomic_store(&m->cells, node);
    dlock_mutex_unlock(&m->mutex);
    return &node->cell;
}

void metrics_count(atomic_uint_fast64_t *counter)
{
    uint64_t old = atomic_load_explicit(counter, memory_order_relaxed);

    atomic_store_explicit(counter, old + 1, memory_order_relaxed);
}

void metrics_lock_lost(struct metrics *m)
{
    atomic_fetch_add_explicit(&m->lock_lost, 1, memory_order_relaxed);
}

/* The sum of one counter, given by its place in a cell, over all cells. */
static uint64_t total(struct metrics *m, size_t offset)
{
    uint64_t sum = 0;

    for (struct node *n = atomic_load(&m->cells); n != NULL; n = n->next)
        sum += atomic_load_explicit(
            (atomic_uint_fast64_t *)(void *)((char *)&n->cell + offset),
            memory_order_relaxed);
    return sum;
}

void metrics_head(struct text *out, const char *name, const char *type,
                  const char *help)
{
    text_add(out, "# HELP %s %s\n# TYPE %s %s\n", name, help, name, type);
}

static void write_histogram(struct metrics *m, struct text *out, const char *name,
                            const char *labels, size_t offset)
{
    struct histogram_sum sum = {0};
    uint64_t seen = 0;
    const char *comma = labels[0] != '\0' ? "," : "";

    for (struct node *n = atomic_load(&m->cells); n != NULL; n = n->next)
        histogram_collect((struct histogram *)(void *)((char *)&n->cell + offset),
                          &sum);
    for (size_t i = 0; i < HISTOGRAM_BUCKETS - 1; i++) {
        seen += sum.buckets[i];
        text_add(out, "%s_bucket{%s%sle=\"%g\"} %" PRIu64 "\n", name, labels, comma,
                 (double)histogram_bucket_end_us(i) / 1e6, seen);
    }
    seen += sum.buckets[HISTOGRAM_BUCKETS - 1];
    text_add(out, "%s_bucket{%s%sle=\"+Inf\"} %" PRIu64 "\n", name, labels, comma,
             seen);
    text_add(out, "%s_sum{%s} %.6f\n", name, labels, (double)sum.sum_us / 1e6);
    text_add(out, "%s_count{%s} %" PRIu64 "\n", name, labels, seen);
}

static void write_orders(struct metrics *m, const struct metrics_facts *facts,
                         struct text *out)
{
    static const char *const LAYERS[] = {
#define X(id, name) name,
        METRICS_LAYERS(X)
#undef X
    };
    const char *name = "seckill_orders_total";

    metrics_head(out, name, "counter",
               "Requests for an order, by how they ended; accepted are those sold by "
               "this process, replayed those that were told of their order again.");
    for (int i = 0; i < OUTCOME_COUNT; i++)
        text_add(out, "%s{lock=\"%s\",outcome=\"%s\"} %" PRIu64 "\n", name, facts->lock,
                 outcome_info((enum outcome)i)->name,
                 total(m, offsetof(struct metrics_cell, orders) +
                              (size_t)i * sizeof(atomic_uint_fast64_t)));
    text_add(out, "%s{lock=\"%s\",outcome=\"replayed\"} %" PRIu64 "\n", name,
             facts->lock, total(m, offsetof(struct metrics_cell, replayed)));
    name = "seckill_orders_stopped_total";
    metrics_head(out, name, "counter",
               "Requests that a layer let go no further: as sold out or bought before, "
               "or, by the lock and by a guard that was outrun, as busy for now, or, by "
               "the fence, as too late.");
    for (size_t i = 0; i < LAYER_COUNT_OF; i++)
        text_add(out, "%s{layer=\"%s\",stock_guard=\"%s\"} %" PRIu64 "\n", name,
                 LAYERS[i], facts->stock_guard,
                 total(m, offsetof(struct metrics_cell, stopped) +
                              i * sizeof(atomic_uint_fast64_t)));
}

static void write_counter(struct metrics *m, struct text *out, const char *name,
                          const char *help, size_t offset)
{
    metrics_head(out, name, "counter", help);
    text_add(out, "%s %" PRIu64 "\n", name, total(m, offset));
}

static void write_batches(struct metrics *m, const struct metrics_facts *facts,
                          struct text *out)
{
    write_counter(m, out, "seckill_batches_total",
                  "Transactions for several orders (--order-path=combined).",
                  offsetof(struct metrics_cell, batches));
    write_counter(m, out, "seckill_batched_orders_total", "Orders in these transactions.",
                  offsetof(struct metrics_cell, batched));
    metrics_head(out, "seckill_orders_waiting", "gauge",
                 "Orders that wait for the transaction of a batch.");
    text_add(out, "seckill_orders_waiting %" PRId64 "\n", facts->orders_waiting);
}

static void write_statuses(struct metrics *m, struct text *out, const char *name,
                           const char *label, const char *value, size_t offset)
{
    static const dlock_status STATUSES[] = {
#define X(id, value, text_id, text) DLOCK_##id,
        DLOCK_STATUS_MAP(X)
#undef X
    };

    for (size_t i = 0; i < sizeof(STATUSES) / sizeof(STATUSES[0]); i++)
        text_add(out, "%s{%s=\"%s\",result=\"%s\"} %" PRIu64 "\n", name, label, value,
                 dlock_status_id(STATUSES[i]),
                 total(m, offset + (size_t)STATUSES[i] * sizeof(atomic_uint_fast64_t)));
}

static void write_locks(struct metrics *m, const struct metrics_facts *facts,
                        struct text *out)
{
    const char *name = "seckill_lock_acquire_total";

    metrics_head(out, name, "counter", "Attempts to take the lock, by result.");
    write_statuses(m, out, name, "lock", facts->lock,
                   offsetof(struct metrics_cell, acquired));
    name = "seckill_lock_release_total";
    metrics_head(out, name, "counter", "Attempts to give the lock back, by result.");
    write_statuses(m, out, name, "lock", facts->lock,
                   offsetof(struct metrics_cell, released));
    name = "seckill_lock_abandoned_total";
    metrics_head(out, name, "counter",
               "Locks left to their lease, since the order may not be over.");
    text_add(out, "%s{lock=\"%s\"} %" PRIu64 "\n", name, facts->lock,
             total(m, offsetof(struct metrics_cell, abandoned)));
    name = "seckill_lock_lost_total";
    metrics_head(out, name, "counter", "Locks that were lost while they were held.");
    text_add(out, "%s{lock=\"%s\"} %" PRIu64 "\n", name, facts->lock,
             atomic_load_explicit(&m->lock_lost, memory_order_relaxed));
}

static void write_admission(struct metrics *m, const struct metrics_facts *facts,
                            struct text *out)
{
    const char *name = "seckill_admission_total";

    metrics_head(out, name, "counter",
               "Orders that asked to be let in, by result; busy are those refused.");
    write_statuses(m, out, name, "admission", facts->admission,
                   offsetof(struct metrics_cell, admitted));
    name = "seckill_admission_release_total";
    metrics_head(out, name, "counter",
               "Orders that gave back their place, by result; a lost one had its lease "
               "run out before.");
    write_statuses(m, out, name, "admission", facts->admission,
                   offsetof(struct metrics_cell, dismissed));
}

static void write_durations(struct metrics *m, struct text *out)
{
    const char *name = "seckill_http_request_duration_seconds";

    metrics_head(out, name, "histogram", "From a request's last header to its answer.");
    write_histogram(m, out, name, "route=\"order\"",
                    offsetof(struct metrics_cell, order_time));
    write_histogram(m, out, name, "route=\"other\"",
                    offsetof(struct metrics_cell, other_time));
    name = "seckill_lock_wait_seconds";
    metrics_head(out, name, "histogram", "How long taking the lock took.");
    write_histogram(m, out, name, "", offsetof(struct metrics_cell, lock_wait));
    name = "seckill_lock_hold_seconds";
    metrics_head(out, name, "histogram", "How long the lock was held.");
    write_histogram(m, out, name, "", offsetof(struct metrics_cell, lock_hold));
}

static void write_gauge(struct text *out, const char *name, const char *help,
                        int64_t value)
{
    metrics_head(out, name, "gauge", help);
    text_add(out, "%s %" PRId64 "\n", name, value);
}

static void write_database(struct metrics *m, const struct db_pool_stats *pool,
                           struct text *out)
{
    const char *name = "seckill_database_takes_total";

    write_gauge(out, "seckill_database_connections",
                "Connections to PostgreSQL that requests may share at most.", pool->size);
    write_gauge(out, "seckill_database_connections_open", "Those of them that are open.",
                pool->open);
    write_gauge(out, "seckill_database_connections_in_use",
                "Those of them that a request has.", pool->in_use);
    write_gauge(out, "seckill_database_waiting", "Requests that wait for one of them.",
                pool->waiting);
    metrics_head(out, name, "counter",
                 "Requests for a connection to PostgreSQL, by result: timeout is answered "
                 "database-busy, lost is answered unavailable.");
    text_add(out, "%s{result=\"ok\"} %" PRIu64 "\n", name, pool->taken);
    text_add(out, "%s{result=\"timeout\"} %" PRIu64 "\n", name, pool->timed_out);
    text_add(out, "%s{result=\"lost\"} %" PRIu64 "\n", name, pool->refused);
    name = "seckill_database_queued_total";
    metrics_head(out, name, "counter", "Requests that found no connection free and waited.");
    text_add(out, "%s %" PRIu64 "\n", name, pool->queued);
    name = "seckill_database_wait_seconds";
    metrics_head(out, name, "histogram",
                 "How long a request waited for a connection to PostgreSQL.");
    write_histogram(m, out, name, "", offsetof(struct metrics_cell, database_wait));
}

void metrics_write(struct metrics *m, const struct metrics_facts *facts,
                   struct text *out)
{
    write_orders(m, facts, out);
    write_counter(m, out, "seckill_commits_unanswered_total",
                  "COMMITs whose answer was lost.",
                  offsetof(struct metrics_cell, settled));
    write_batches(m, facts, out);
    write_locks(m, facts, out);
    write_admission(m, facts, out);
    write_durations(m, out);
    write_database(m, &facts->database, out);
    write_gauge(out, "seckill_http_workers_busy", "Requests that are worked on.",
                facts->workers_busy);
    write_gauge(out, "seckill_http_workers", "How many may be (--workers).",
                facts->workers_total);
    write_gauge(out, "seckill_http_workers_waiting", "Requests that wait for a worker.",
                facts->workers_waiting);
    metrics_head(out, "seckill_http_workers_timed_out_total", "counter",
                 "Requests that waited for a worker as long as --worker-wait allows.");
    text_add(out, "seckill_http_workers_timed_out_total %" PRIu64 "\n",
             facts->workers_timed_out);
    metrics_head(out, "seckill_build_info", "gauge", "Always 1.");
    text_add(out,
             "seckill_build_info{version=\"" SECKILL_VERSION "\",process=\"%s\","
             "order_path=\"%s\"} 1\n",
             facts->process, facts->order_path);
}
