/* SPDX-License-Identifier: MIT */
/* test_pool.c -- connections to PostgreSQL that threads share: order, bounds, loss. */
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/text/duration.h"
#include "db/pool.h"
#include "tests/service/rig.h"

static const struct postgres_statement ONE = {"pool_one", "SELECT 1", ""};

/* No other program's connections have this name. */
static char application[32];

/* `url` is NULL: the lab's. */
static struct db_pool *pool_of(size_t size, const char *url)
{
    struct db_options opts =
        db_options_default(url != NULL ? url : getenv("SECKILL_LAB_DATABASE_URL"));
    struct db_pool *pool;

    opts.application_name = application;
    pool = db_pool_new(&opts, size);
    assert_non_null(pool);
    return pool;
}

static struct db_conn *take(struct db_pool *pool)
{
    struct db_taken taken;

    if (db_pool_take(pool, 20000, &taken) != DB_OK)
        fail_msg("no connection: %s", taken.why);
    return taken.db;
}

static struct db_pool_stats stats_of(struct db_pool *pool)
{
    struct db_pool_stats stats;

    db_pool_read_stats(pool, &stats);
    return stats;
}

struct expected {
    struct db_pool *pool;
    int64_t open, waiting; /* -1: any */
};

static bool has_come_about(void *arg)
{
    const struct expected *e = arg;
    struct db_pool_stats stats = stats_of(e->pool);

    return (e->open < 0 || stats.open == e->open) &&
           (e->waiting < 0 || stats.waiting == e->waiting);
}

static void await(struct db_pool *pool, int64_t open, int64_t waiting)
{
    struct expected e = {pool, open, waiting};

    if (!rig_until(has_come_about, &e, RIG_PATIENCE_MS))
        fail_msg("%lld are open and %lld wait, instead of %lld and %lld",
                 (long long)stats_of(pool).open, (long long)stats_of(pool).waiting,
                 (long long)open, (long long)waiting);
}

TEST(a_connection_is_used_by_one_caller_at_a_time)
{
    struct db_pool *pool = pool_of(2, NULL);
    struct db_conn *first = take(pool);
    struct db_conn *second = take(pool);
    struct db_taken third;

    assert_ptr_not_equal(first, second);
    assert_int_equal(db_pool_take(pool, 30, &third), DB_TIMEOUT);
    assert_null(third.db);
    assert_true(third.waited_ns >= 30000000);
    assert_non_null(strstr(third.why, "no connection to the database became free within "
                                      "30 ms"));
    assert_int_equal(db_pool_take(pool, 0, &third), DB_TIMEOUT);
    db_pool_give(pool, second);
    assert_int_equal(db_pool_take(pool, 0, &third), DB_OK);
    assert_ptr_equal(third.db, second);
    assert_int_equal(stats_of(pool).in_use, 2);
    assert_int_equal(stats_of(pool).timed_out, 2);
    db_pool_give(pool, first);
    db_pool_give(pool, second);
    assert_int_equal(stats_of(pool).in_use, 0);
    db_pool_free(pool);
}

enum { IN_LINE = 12 };

struct line {
    struct db_pool *pool;
    atomic_int next_place;
    int place_of[IN_LINE];
};

struct in_line {
    struct line *line;
    int number;
    pthread_t thread;
};

static void *wait_in_line(void *arg)
{
    struct in_line *me = arg;
    struct db_conn *db = take(me->line->pool);

    me->line->place_of[me->number] = atomic_fetch_add(&me->line->next_place, 1);
    db_pool_give(me->line->pool, db);
    return NULL;
}

TEST(callers_are_served_in_the_order_of_their_arrival)
{
    struct line line = {.pool = pool_of(1, NULL)};
    struct in_line callers[IN_LINE];
    struct db_conn *held = take(line.pool);

    for (int i = 0; i < IN_LINE; i++) {
        callers[i] = (struct in_line){.line = &line, .number = i};
        assert_int_equal(
            pthread_create(&callers[i].thread, NULL, wait_in_line, &callers[i]), 0);
        await(line.pool, -1, i + 1);
    }
    db_pool_give(line.pool, held);
    for (int i = 0; i < IN_LINE; i++)
        (void)pthread_join(callers[i].thread, NULL);
    for (int i = 0; i < IN_LINE; i++)
        assert_int_equal(line.place_of[i], i);
    db_pool_free(line.pool);
}

/* A caller in the middle of the queue gives up, and the others keep their order. */
TEST(a_caller_that_gives_up_leaves_the_line_whole)
{
    struct line line = {.pool = pool_of(1, NULL)};
    struct in_line callers[2];
    struct db_conn *held = take(line.pool);
    struct db_taken taken;

    for (int i = 0; i < 2; i++) {
        callers[i] = (struct in_line){.line = &line, .number = i};
        assert_int_equal(
            pthread_create(&callers[i].thread, NULL, wait_in_line, &callers[i]), 0);
        await(line.pool, -1, i + 1);
        assert_int_equal(db_pool_take(line.pool, 1, &taken), DB_TIMEOUT);
        assert_int_equal(stats_of(line.pool).waiting, i + 1);
    }
    db_pool_give(line.pool, held);
    for (int i = 0; i < 2; i++) {
        (void)pthread_join(callers[i].thread, NULL);
        assert_int_equal(line.place_of[i], i);
    }
    assert_int_equal(stats_of(line.pool).in_use, 0);
    db_pool_free(line.pool);
}

enum { THREADS = 32, ROUNDS = 200, SHARED = 3 };

struct sharing {
    struct db_pool *pool;
    atomic_int inside, most;
    int owned[SHARED]; /* written by the holder of a connection, without a lock */
    struct db_conn *_Atomic seen[SHARED];
    atomic_int timed_out;
};

/* The index of this connection. */
static int index_of(struct sharing *c, struct db_conn *db)
{
    for (int i = 0; i < SHARED; i++) {
        struct db_conn *none = NULL;

        if (atomic_compare_exchange_strong(&c->seen[i], &none, db) || none == db)
            return i;
    }
    fail_msg("there are more than %d connections", SHARED);
    return 0;
}

static void *come_and_go(void *arg)
{
    struct sharing *c = arg;

    for (int i = 0; i < ROUNDS; i++) {
        struct db_taken taken;
        int inside;

        /* Some callers wait for a very short time, so that giving up and getting a connection
         * happen at once. */
        if (db_pool_take(c->pool, i % 4 == 0 ? 1 : 20000, &taken) != DB_OK) {
            atomic_fetch_add(&c->timed_out, 1);
            continue;
        }
        inside = atomic_fetch_add(&c->inside, 1) + 1;
        for (int most = atomic_load(&c->most);
             inside > most && !atomic_compare_exchange_weak(&c->most, &most, inside);)
            ;
        c->owned[index_of(c, taken.db)]++;
        if (i % 8 == 0 && db_run_one(taken.db, &ONE, NULL) != DB_OK)
            fail_msg("%s", db_error(taken.db));
        atomic_fetch_sub(&c->inside, 1);
        db_pool_give(c->pool, taken.db);
    }
    return NULL;
}

TEST(many_threads_share_few_connections_and_lose_none)
{
    struct sharing c = {.pool = pool_of(SHARED, NULL)};
    pthread_t threads[THREADS];
    struct db_pool_stats stats;
    int owned = 0;

    await(c.pool, SHARED, 0);
    for (int i = 0; i < THREADS; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, come_and_go, &c), 0);
    for (int i = 0; i < THREADS; i++)
        (void)pthread_join(threads[i], NULL);
    stats = stats_of(c.pool);
    for (int i = 0; i < SHARED; i++)
        owned += c.owned[i];
    assert_in_range(atomic_load(&c.most), 1, SHARED);
    assert_int_equal(owned, THREADS * ROUNDS - atomic_load(&c.timed_out));
    assert_int_equal(stats.taken, owned);
    assert_int_equal(stats.timed_out, atomic_load(&c.timed_out));
    assert_int_equal(stats.in_use, 0);
    assert_int_equal(stats.waiting, 0);
    assert_int_equal(stats.open, SHARED);
    db_pool_free(c.pool);
}

static const struct postgres_statement BEGIN = {"pool_begin", "BEGIN", ""};
static const struct postgres_statement IN_TRANSACTION = {
    "pool_in_transaction",
    "SELECT count(*) FROM pg_stat_activity WHERE application_name = $1"
    " AND xact_start IS NOT NULL",
    "t"};

static bool is_none_in_transaction(void *arg)
{
    (void)arg;
    assert_int_equal(db_run_one(rig_db(), &IN_TRANSACTION, DB_VALUES(DB_TEXT(application))), DB_OK);
    return db_int(rig_db(), 0, 0, 0) == 0;
}

TEST(a_transaction_that_is_left_open_is_rolled_back)
{
    struct db_pool *pool = pool_of(1, NULL);
    struct db_conn *db = take(pool);

    assert_int_equal(db_run_one(db, &BEGIN, NULL), DB_OK);
    assert_false(is_none_in_transaction(NULL));
    db_pool_give(pool, db);
    assert_true(rig_until(is_none_in_transaction, NULL, RIG_PATIENCE_MS));
    db = take(pool);
    assert_false(db_in_transaction(db));
    db_pool_give(pool, db);
    db_pool_free(pool);
}

static void end_backends(void)
{
    static const struct postgres_statement END = {
        "pool_end",
        "SELECT count(pg_terminate_backend(pid, 10000)) FROM pg_stat_activity"
        " WHERE application_name = $1",
        "t"};

    assert_int_equal(db_run_one(rig_db(), &END, DB_VALUES(DB_TEXT(application))), DB_OK);
}

/* All free connections are dead: the pool must give none of them to a caller, and callers see no
 * error. */
TEST(a_dead_connection_is_not_handed_out)
{
    struct db_pool *pool = pool_of(4, NULL);

    await(pool, 4, 0);
    end_backends();
    for (int i = 0; i < 8; i++) {
        struct db_conn *db = take(pool);

        assert_int_equal(db_run_one(db, &BEGIN, NULL), DB_OK);
        db_pool_give(pool, db);
    }
    await(pool, 4, 0);
    db_pool_free(pool);
}

TEST(a_lost_connection_is_opened_again)
{
    struct db_pool *pool = pool_of(1, NULL);
    struct db_conn *db = take(pool);

    assert_int_equal(db_run_one(db, &BEGIN, NULL), DB_OK);
    end_backends();
    assert_int_equal(db_run_one(db, &ONE, NULL), DB_LOST);
    db_pool_give(pool, db);
    db = take(pool);
    assert_int_equal(db_run_one(db, &ONE, NULL), DB_OK);
    db_pool_give(pool, db);
    assert_int_equal(stats_of(pool).open, 1);
    db_pool_free(pool);
}

/* No server listens: the first caller is refused as soon as this is known, and later callers at
 * once, before their time is over. */
TEST(without_a_server_callers_are_refused_at_once)
{
    struct db_pool *pool = pool_of(2, "postgresql://nobody@127.0.0.1:1/x");
    struct db_taken taken;
    int64_t begin_ns = monotonic_ns();

    for (int i = 0; i < 100; i++) {
        assert_int_equal(db_pool_take(pool, 60000, &taken), DB_LOST);
        assert_null(taken.db);
        assert_non_null(strstr(taken.why, "onnection refused"));
    }
    assert_true(monotonic_ns() - begin_ns < 30000000000);
    assert_int_equal(stats_of(pool).open, 0);
    assert_int_equal(stats_of(pool).refused, 100);
    db_pool_free(pool);
}

int main(void)
{
    (void)snprintf(application, sizeof application, "pool-%d", (int)getpid());
    return rig_run_tests(NULL, NULL);
}
