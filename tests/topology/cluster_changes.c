/* SPDX-License-Identifier: MIT */
/* cluster_changes.c -- a Redis Cluster in which another node becomes the master: a release that no
 * thread waits for still ends, and a grant after a redirect is a grant of the new master. */
#include "tests/registered.h"
#include "tests/topology/fake_nodes.h"

#include "base/redis/cluster_routes.h"
#include "base/redis/link_inside.h"
#include "lock/stores/redis_request.h"
#include "tests/unit/awaited.h"

enum { LONG_MS = 20000, PATIENCE_MS = 20000, ROUNDS = 5 };

static const struct redis_command GET = {2, {"GET", NAME}, REDIS_SHAPE_ANY};

/* Both nodes answer that node `i` has the slots, and that the other node is a replica. */
static void name_master(int i, int epoch)
{
    char list[512];
    int len = node_line(list, sizeof(list), (char)('a' + i), nodes[i].port, "master", epoch,
                        "0-16383");

    node_line(list + len, sizeof(list) - (size_t)len, (char)('b' - i), nodes[1 - i].port, "slave",
              epoch, "");
    say_list(list);
}

/* ---- releases that no thread waits for ---- */

static struct redis_link *link_;
static atomic_int ended_count;

static void count_end(struct redis_post *post)
{
    (void)post;
    atomic_fetch_add(&ended_count, 1);
}

static int begin(void **state)
{
    char url[64];

    (void)start_nodes(state);
    name_master(0, 1);
    atomic_store(&ended_count, 0);
    snprintf(url, sizeof(url), "redis-cluster://127.0.0.1:%d", nodes[0].port);
    return redis_link_open(&link_, url, LONG_MS, false) == DLOCK_OK ? 0 : 1;
}

static int end(void **state)
{
    redis_link_close(link_);
    return stop_nodes(state);
}

static bool get(void)
{
    struct redis_answer answer;

    return redis_call(link_, &GET, INT64_MAX, &answer) == DLOCK_OK;
}

static bool is_connected(struct redis_link *link)
{
    bool is_connected;

    redis_link_group_lock(link->group);
    is_connected = link->conn != NULL;
    redis_link_group_unlock(link->group);
    return is_connected;
}

/* A thread may have chosen the node while the node still had slots. */
TEST_WITH(begin, end, a_post_to_a_node_that_has_lost_its_slots_ends)
{
    struct redis_post post = {.end = count_end};
    char why[REDIS_WHY_SIZE];
    struct redis_link *picked;

    assert_true(get());
    picked = redis_routes_find(link_->routes, redis_slot_of(NAME), INT64_MAX, why);
    assert_true(is_connected(picked));
    name_master(1, 2);
    assert_comes(!is_connected(picked));
    assert_true(redis_link_post(picked, &GET, &post));
    assert_false(redis_link_push(link_));
    assert_int_equal(DLOCK_OK, redis_ping(link_));
    assert_int_equal(1, atomic_load(&ended_count));
    assert_true(redis_link_push(link_));
}

TEST_WITH(begin, end, a_node_that_was_replaced_keeps_nothing_queued)
{
    struct redis_post post = {.end = count_end};

    assert_true(get());
    say(0, ON_LOCK, "\x01");
    name_master(1, 2);
    assert_comes(get());
    assert_true(atomic_load(&nodes[1].heard[ON_LOCK]) > 0);
    assert_true(redis_link_post(link_, &GET, &post));
    assert_true(redis_link_push(link_));
    assert_true(get());
    assert_int_equal(1, atomic_load(&ended_count));
}

/* ---- grants ---- */

/* The nodes name the new master only after a redirect has made the library ask for the slots. So
 * the library hears of the promotion late. */
static struct {
    pthread_t thread;
    atomic_bool is_over;
    int old, epoch;
    int locks, lists; /* the counts of commands before the change */
} news;

static void *spread_news(void *arg)
{
    (void)arg;
    while (!atomic_load(&news.is_over) &&
           (atomic_load(&nodes[news.old].heard[ON_LOCK]) == news.locks ||
            heard(ON_NODES) == news.lists))
        poll(NULL, 0, 1);
    name_master(1 - news.old, news.epoch);
    return NULL;
}

static int64_t fail_over_count(dlock_system *sys)
{
    dlock_metrics metrics;

    dlock_metrics_read(sys, &metrics);
    return (int64_t)metrics.fail_overs;
}

/* Node `old` redirects to the other node, which grants the lock. Is the lease still valid when the
 * library has heard of the promotion? */
static bool outlives_the_news(dlock_system *sys, int old, int epoch)
{
    int64_t before = fail_over_count(sys);
    dlock_lease lease;
    bool is_held;

    assert_comes(dlock_acquire(sys, NAME, 0, &lease) == DLOCK_OK);
    (void)dlock_release(sys, &lease);
    sayf(old, ON_LOCK, "-MOVED %d 127.0.0.1:%d\r\n", redis_slot_of(NAME), nodes[1 - old].port);
    news.old = old;
    news.epoch = epoch;
    news.locks = atomic_load(&nodes[old].heard[ON_LOCK]);
    news.lists = heard(ON_NODES);
    atomic_store(&news.is_over, false);
    assert_int_equal(0, pthread_create(&news.thread, NULL, spread_news, NULL));
    assert_int_equal(DLOCK_OK, dlock_acquire(sys, NAME, 0, &lease));
    atomic_store(&news.is_over, true);
    pthread_join(news.thread, NULL);
    assert_comes(fail_over_count(sys) > before);
    is_held = dlock_lease_valid(sys, &lease);
    (void)dlock_release(sys, &lease);
    say(old, ON_LOCK, "+OK\r\n");
    return is_held;
}

/* The library waits 0.2 s for the new map of the slots, which a busy machine may exceed. So one of
 * several fail-overs has to keep its lease. */
TEST_WITH(begin, end, an_acknowledged_grant_by_a_redirect_outlives_the_news)
{
    dlock_options opts = dlock_options_default();
    dlock_system *sys = NULL;
    char url[64];
    int outlived_count = 0;

    snprintf(url, sizeof(url), "redis-cluster://127.0.0.1:%d", nodes[0].port);
    opts.variant = "owner";
    opts.redis_url = url;
    opts.redis_timeout_ms = LONG_MS;
    opts.replicas_acknowledge = 1;
    assert_int_equal(DLOCK_OK, dlock_open(&sys, &opts));
    for (int i = 0; i < ROUNDS; i++)
        outlived_count += outlives_the_news(sys, i % 2, 2 + i);
    print_message("# %d of %d grants\n", outlived_count, (int)ROUNDS);
    assert_true(outlived_count > 0);
    dlock_close(sys);
}
