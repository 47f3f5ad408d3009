/* SPDX-License-Identifier: MIT */
/* pool.c -- hands out connections in the order of arrival, and keeps them open.
 *
 * Every connection is in exactly one place: free, closed, being opened by the pool's
 * thread, or in use.  Invariant: while a caller waits, no connection is free.
 */
#include "db/pool.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/os/clock.h"
#include "base/os/condition.h"
#include "base/os/thread.h"
#include "db/conn_private.h"

/* A waiting caller; the struct is on the caller's stack. */
struct waiter {
    struct waiter *next;
    uint64_t ticket;
    struct dlock_condition told;
    bool is_told;
    struct db_conn *db; /* NULL when told: the pool is down */
};

/* Connections that are not in use, the last one on top. */
struct stack {
    struct db_conn **items;
    size_t count;
};

struct db_pool {
    struct dlock_mutex mutex; /* protects everything below */
    struct dlock_thread opener;
    struct dlock_condition work; /* wakes the opener: a connection was closed, or the
                                  * pool is freed */
    bool is_ending;
    bool is_down;
    bool may_move; /* several hosts or a pooler: a server may answer soon, so callers
                    * wait */
    size_t host;   /* the index of the URL's host that was connected to last  */
    char why[ERROR_MAX]; /* why the last attempt to connect failed, or that the server
                          * did not answer; "" once all connections are open  */
    size_t size;
    size_t in_use;
    struct db_conn **all;
    struct stack free, closed;
    struct waiter *first, **last_next;
    uint64_t next_ticket;
    struct db_pool_stats sums;
};

static void push(struct stack *stack, struct db_conn *db)
{
    stack->items[stack->count++] = db;
}

static struct db_conn *pop(struct stack *stack)
{
    return stack->count > 0 ? stack->items[--stack->count] : NULL;
}

/* ---- the line; the mutex is held ---- */

/* Insert a caller into the line by its ticket, so that a caller whose free connection
 * was dead keeps its place. */
static void line_up(struct db_pool *pool, struct waiter *waiter)
{
    struct waiter **at = &pool->first;

    if (waiter->ticket + 1 == pool->next_ticket)
        at = pool->last_next;
    while (*at != NULL && (*at)->ticket < waiter->ticket)
        at = &(*at)->next;
    waiter->next = *at;
    *at = waiter;
    if (waiter->next == NULL)
        pool->last_next = &waiter->next;
    pool->sums.waiting++;
}

static void leave_line(struct db_pool *pool, struct waiter **at)
{
    struct waiter *waiter = *at;

    *at = waiter->next;
    if (waiter->next == NULL)
        pool->last_next = at;
    pool->sums.waiting--;
}

/* Give a connection to the first caller in line; NULL: the pool is down. */
static void tell_first(struct db_pool *pool, struct db_conn *db)
{
    struct waiter *waiter = pool->first;

    leave_line(pool, &pool->first);
    waiter->db = db;
    waiter->is_told = true;
    dlock_condition_signal(&waiter->told);
}

/* An open connection has become available. */
static void hand_on(struct db_pool *pool, struct db_conn *db)
{
    if (pool->first == NULL) {
        push(&pool->free, db);
        return;
    }
    pool->in_use++;
    tell_first(pool, db);
}

static bool is_any_open(const struct db_pool *pool)
{
    return pool->in_use + pool->free.count > 0;
}

static void go_down(struct db_pool *pool)
{
    if (pool->may_move)
        return;
    pool->is_down = true;
    while (pool->first != NULL)
        tell_first(pool, NULL);
}

/* Close the free connections.  Called when the server of a connection takes no writes
 * any more, or does not answer and there are other hosts: the free connections lead to
 * the same server. */
static void close_free(struct db_pool *pool)
{
    struct db_conn *db;

    while ((db = pop(&pool->free)) != NULL) {
        db_disconnect(db);
        push(&pool->closed, db);
    }
}

static void put_closed(struct db_pool *pool, struct db_conn *db)
{
    push(&pool->closed, db);
    if (db->was_demoted || (db->fell_silent && pool->may_move))
        close_free(pool);
    if (db->fell_silent || db->was_demoted)
        (void)snprintf(pool->why, sizeof(pool->why), "%s", db->error);
    if (db->fell_silent && !is_any_open(pool))
        go_down(pool);
    dlock_condition_signal(&pool->work);
}

/* ---- the thread that opens connections ---- */

/* Try to open a connection.  The mutex is unlocked meanwhile. */
static void open_one(struct db_pool *pool, struct db_conn *db)
{
    enum db_status st;

    db->host = pool->host;
    dlock_mutex_unlock(&pool->mutex);
    st = db_connect(db);
    dlock_mutex_lock(&pool->mutex);
    pool->sums.opened += st == DB_OK;
    pool->sums.failed += st != DB_OK;
    if (st == DB_OK) {
        pool->host = db->host;
        pool->is_down = false;
        if (pool->closed.count == 0)
            pool->why[0] = '\0';
        hand_on(pool, db);
        return;
    }
    push(&pool->closed, db);
    (void)snprintf(pool->why, sizeof(pool->why), "%s", db->error);
    if (!is_any_open(pool))
        go_down(pool);
}

static void *keep_open(void *arg)
{
    struct db_pool *pool = arg;

    dlock_mutex_lock(&pool->mutex);
    while (!pool->is_ending) {
        struct db_conn *db = pool->closed.count > 0
                                 ? pool->closed.items[pool->closed.count - 1]
                                 : NULL;

        if (db == NULL)
            dlock_condition_wait(&pool->work, &pool->mutex);
        else if (dlock_clock_ns() < db->next_try_ns)
            (void)dlock_condition_wait_until(&pool->work, &pool->mutex, db->next_try_ns);
        else
            open_one(pool, pop(&pool->closed));
    }
    dlock_mutex_unlock(&pool->mutex);
    return NULL;
}

/* ---- make and free ---- */

static void free_parts(struct db_pool *pool)
{
    for (size_t i = 0; pool->all != NULL && i < pool->size; i++)
        db_free(pool->all[i]);
    free(pool->all);
    free(pool->free.items);
    free(pool->closed.items);
    dlock_condition_destroy(&pool->work);
    dlock_mutex_destroy(&pool->mutex);
    free(pool);
}

struct db_pool *db_pool_new(const struct db_options *opts, size_t size)
{
    struct db_pool *pool = calloc(1, sizeof(*pool));
    bool is_whole;

    if (pool == NULL || !dlock_condition_init(&pool->work)) {
        free(pool);
        return NULL;
    }
    dlock_mutex_init(&pool->mutex);
    pool->size = size;
    pool->may_move =
        postgres_url_hosts(opts->url) > 1 || opts->pooler != POSTGRES_POOLER_NONE;
    pool->last_next = &pool->first;
    pool->all = calloc(size, sizeof(struct db_conn *));
    pool->free.items = calloc(size, sizeof(struct db_conn *));
    pool->closed.items = calloc(size, sizeof(struct db_conn *));
    is_whole =
        pool->all != NULL && pool->free.items != NULL && pool->closed.items != NULL;
    for (size_t i = 0; is_whole && i < size; i++) {
        pool->all[i] = db_new(opts);
        is_whole = pool->all[i] != NULL;
        push(&pool->closed, pool->all[i]);
    }
    if (is_whole && dlock_thread_start(&pool->opener, keep_open, pool) == 0)
        return pool;
    free_parts(pool);
    return NULL;
}

void db_pool_free(struct db_pool *pool)
{
    if (pool == NULL)
        return;
    dlock_mutex_lock(&pool->mutex);
    pool->is_ending = true;
    dlock_condition_signal(&pool->work);
    dlock_mutex_unlock(&pool->mutex);
    dlock_thread_join(&pool->opener);
    free_parts(pool);
}

/* ---- take and give ---- */

/* Take a free connection that is not dead.  The mutex is unlocked while a connection is
 * checked. */
static struct db_conn *take_free(struct db_pool *pool)
{
    struct db_conn *db;

    while ((db = pop(&pool->free)) != NULL) {
        bool is_dead;

        pool->in_use++;
        dlock_mutex_unlock(&pool->mutex);
        is_dead = db_is_stale(db);
        if (is_dead)
            db_disconnect(db);
        dlock_mutex_lock(&pool->mutex);
        if (!is_dead)
            return db;
        pool->in_use--;
        put_closed(pool, db);
    }
    return NULL;
}

static enum db_status wait_in_line(struct db_pool *pool, struct waiter *me,
                                   int64_t deadline_ns)
{
    if (!dlock_condition_init(&me->told))
        return DB_TIMEOUT; /* a wait is not possible, which counts as a timeout */
    line_up(pool, me);
    pool->sums.queued++;
    while (!me->is_told &&
           dlock_condition_wait_until(&me->told, &pool->mutex, deadline_ns))
        ; /* the wait may end early */
    if (!me->is_told) {
        struct waiter **at = &pool->first;

        while (*at != me)
            at = &(*at)->next;
        leave_line(pool, at);
    }
    dlock_condition_destroy(&me->told);
    if (!me->is_told)
        return DB_TIMEOUT;
    return me->db != NULL ? DB_OK : DB_LOST;
}

/* Write the reason as a sentence.  The caller holds the mutex. */
static void explain(const struct db_pool *pool, enum db_status st, int64_t wait_ms,
                    char out[DB_POOL_WHY_MAX])
{
    out[0] = '\0';
    if (st == DB_TIMEOUT)
        (void)snprintf(out, DB_POOL_WHY_MAX,
                       "no connection to the database became free within %lld ms: %zu of "
                       "%zu are open, %zu are in use, and %lld requests wait%s%.300s",
                       (long long)wait_ms, pool->in_use + pool->free.count, pool->size,
                       pool->in_use, (long long)pool->sums.waiting,
                       pool->why[0] != '\0' ? "; no more can be opened: " : "",
                       pool->why);
    else if (st == DB_LOST)
        (void)snprintf(out, DB_POOL_WHY_MAX, "%.*s", DB_POOL_WHY_MAX - 1, pool->why);
}

enum db_status db_pool_take(struct db_pool *pool, int64_t wait_ms,
                            struct db_taken *taken)
{
    int64_t begin_ns = dlock_clock_ns();
    enum db_status st = DB_OK;
    struct waiter me = {0};

    dlock_mutex_lock(&pool->mutex);
    me.ticket = pool->next_ticket++;
    me.db = take_free(pool);
    if (me.db == NULL && pool->is_down)
        st = DB_LOST;
    else if (me.db == NULL)
        st = wait_in_line(pool, &me, dlock_clock_after(begin_ns, wait_ms));
    pool->sums.taken += st == DB_OK;
    pool->sums.timed_out += st == DB_TIMEOUT;
    pool->sums.refused += st == DB_LOST;
    explain(pool, st, wait_ms, taken->why);
    dlock_mutex_unlock(&pool->mutex);
    taken->db = me.db;
    taken->waited_ns = dlock_clock_ns() - begin_ns;
    return st;
}

void db_pool_give(struct db_pool *pool, struct db_conn *db)
{
    db_clear_results(db);
    if (db_in_transaction(db))
        db_disconnect(db);
    dlock_mutex_lock(&pool->mutex);
    pool->in_use--;
    if (db->open != NULL)
        hand_on(pool, db);
    else
        put_closed(pool, db);
    dlock_mutex_unlock(&pool->mutex);
}

void db_pool_read_stats(struct db_pool *pool, struct db_pool_stats *out)
{
    dlock_mutex_lock(&pool->mutex);
    *out = pool->sums;
    out->size = (int64_t)pool->size;
    out->in_use = (int64_t)pool->in_use;
    out->open = (int64_t)(pool->in_use + pool->free.count);
    dlock_mutex_unlock(&pool->mutex);
}
