/* SPDX-License-Identifier: MIT */
/* metrics.c -- the cells in which the threads of the service count. */
#include "app/metrics.h"

#include <stdlib.h>

#include "base/os/histogram.h"
#include "base/os/mutex.h"

struct node {
    struct metrics_cell cell;
    struct node *next;
};

/* Up to this number of threads each have their own cell.  That is enough for the
 * processors of most machines; a cell takes 6 KB. */
enum { CELLS_MAX = 64 };

struct metrics {
    struct dlock_mutex mutex; /* held to add a cell; cells are never removed */
    _Atomic(struct node *) cells;
    int cell_count;
    struct node *shared; /* the next cell to share, once there are CELLS_MAX */
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

/* With the mutex held.  NULL: no memory. */
static struct node *add_node(struct metrics *m)
{
    struct node *node = NULL;

    /* Two cells must not share a cache line. */
    if (posix_memalign((void **)&node, 64, (sizeof(*node) + 63) / 64 * 64) != 0)
        return NULL;
    *node = (struct node){0};
    node->next = atomic_load(&m->cells);
    atomic_store(&m->cells, node);
    m->cell_count++;
    return node;
}

/* Return an existing cell, each in turn.  The caller holds the mutex. */
static struct node *share_node(struct metrics *m)
{
    struct node *node = m->shared != NULL ? m->shared : atomic_load(&m->cells);

    m->shared = node->next;
    return node;
}

struct metrics_cell *metrics_cell(struct metrics *m)
{
    struct node *node = NULL;

    dlock_mutex_lock(&m->mutex);
    node = m->cell_count < CELLS_MAX ? add_node(m) : share_node(m);
    dlock_mutex_unlock(&m->mutex);
    return node != NULL ? &node->cell : NULL;
}

void metrics_count(atomic_uint_fast64_t *counter)
{
    atomic_fetch_add_explicit(counter, 1, memory_order_relaxed);
}

void metrics_record_size(struct metrics_histogram *h, uint64_t size)
{
    metrics_count(&h->buckets[histogram_bucket(size, METRICS_BUCKET_BITS, METRICS_BUCKETS)]);
    atomic_fetch_add_explicit(&h->sum, size, memory_order_relaxed);
}

void metrics_record_duration(struct metrics_histogram *h, int64_t duration_ns)
{
    metrics_record_size(h, duration_ns > 0 ? (uint64_t)duration_ns / 1000 : 0);
}

void metrics_lock_lost(struct metrics *m)
{
    atomic_fetch_add_explicit(&m->lock_lost, 1, memory_order_relaxed);
}

int64_t metrics_locks_lost(struct metrics *m)
{
    return (int64_t)atomic_load_explicit(&m->lock_lost, memory_order_relaxed);
}

uint64_t metrics_total(struct metrics *m, size_t offset)
{
    uint64_t sum = 0;

    for (struct node *n = atomic_load(&m->cells); n != NULL; n = n->next)
        sum += atomic_load_explicit(
            (atomic_uint_fast64_t *)(void *)((char *)&n->cell + offset),
            memory_order_relaxed);
    return sum;
}

void metrics_collect(struct metrics *m, size_t offset, struct metrics_histogram_sum *sum)
{
    for (struct node *n = atomic_load(&m->cells); n != NULL; n = n->next) {
        struct metrics_histogram *h = (void *)((char *)&n->cell + offset);

        for (size_t i = 0; i < METRICS_BUCKETS; i++)
            sum->buckets[i] += atomic_load_explicit(&h->buckets[i], memory_order_relaxed);
        sum->sum += atomic_load_explicit(&h->sum, memory_order_relaxed);
    }
}
