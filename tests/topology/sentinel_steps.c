/* SPDX-License-Identifier: MIT */
/* sentinel_steps.c -- finding the master through Sentinels that answer invalid texts or nothing;
 * and the holds of a system when the master changes. */
#include "tests/registered.h"
#include "tests/topology/fake_servers.h"

#include <time.h>

#include "base/os/clock.h"
#include "base/redis/master.h"
#include "lock/dlock.h"
#include "lock/stores/redis_request.h"

enum { TIMEOUT_MS = 2500, PATIENCE_MS = 10000, TEXT_MAX = 256 };

static char url[TEXT_MAX];

static void name_master(struct fake *sentinel, const struct fake *master, int epoch)
{
    char text[TEXT_MAX];

    snprintf(text, sizeof(text), "*4\r\n$4\r\nname\r\n$4\r\nshop\r\n$12\r\nconfig-epoch\r\n"
             "$1\r\n%d\r\n", epoch);
    say(sentinel, ON_EPOCH, text);
    snprintf(text, sizeof(text), "*2\r\n$9\r\n127.0.0.1\r\n$5\r\n%05d\r\n", master->port);
    say(sentinel, ON_ADDRESS, text);
}

static void be_master(struct fake *fake)
{
    say(fake, ON_ROLE, "*3\r\n$6\r\nmaster\r\n:0\r\n*0\r\n");
    say(fake, ON_ANYTHING, "+PONG\r\n");
}

/* fakes[0] and fakes[1] are Sentinels, which name fakes[2]; fakes[3] can become the next master. */
static int set_up(void **state)
{
    (void)state;
    for (int i = 0; i < FAKES; i++)
        start(&fakes[i]);
    name_master(&fakes[0], &fakes[2], 1);
    name_master(&fakes[1], &fakes[2], 1);
    be_master(&fakes[2]);
    be_master(&fakes[3]);
    snprintf(url, sizeof(url), "redis-sentinel://127.0.0.1:%d,127.0.0.1:%d/shop",
             fakes[0].port, fakes[1].port);
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    for (int i = 0; i < FAKES; i++)
        stop(&fakes[i]);
    return 0;
}

static dlock_status ping(void)
{
    struct redis_link *link;
    dlock_status st;

    assert_int_equal(DLOCK_OK, redis_link_open(&link, url, TIMEOUT_MS, false));
    st = redis_ping(link);
    redis_link_close(link);
    return st;
}

TEST_WITH(set_up, tear_down, finds_the_master)
{
    assert_int_equal(DLOCK_OK, ping());
    assert_true(atomic_load(&fakes[2].heard[ON_ROLE]) > 0);
    assert_int_equal(0, atomic_load(&fakes[3].heard[ON_ANYTHING]));
}

TEST_WITH(set_up, tear_down, asks_the_next_after_nonsense)
{
    static const char *const nonsense[] = {
        "hello\r\n", "+OK\r\n", "*2\r\n$1\r\na\r\n$1\r\nb\r\n", "*0\r\n", ":1\r\n",
        "*2\r\n$0\r\n\r\n$5\r\n26379\r\n", "*2\r\n$1\r\na\r\n$5\r\n99999\r\n", "*-1\r\n",
    };

    for (size_t i = 0; i < sizeof(nonsense) / sizeof(nonsense[0]); i++) {
        say(&fakes[0], ON_ADDRESS, nonsense[i]);
        assert_int_equal(DLOCK_OK, ping());
    }
}

TEST_WITH(set_up, tear_down, asks_the_next_after_silence)
{
    int64_t begun_ns = dlock_clock_ns();

    say(&fakes[0], ON_EPOCH, NULL);
    assert_int_equal(DLOCK_OK, ping());
    assert_true(dlock_clock_ns() - begun_ns < TIMEOUT_MS * DLOCK_NS_PER_MS);
}

TEST_WITH(set_up, tear_down, asks_the_next_after_a_dead_one)
{
    snprintf(url, sizeof(url), "redis-sentinel://127.0.0.1:1,127.0.0.1:%d/shop",
             fakes[1].port);
    assert_int_equal(DLOCK_OK, ping());
}

TEST_WITH(set_up, tear_down, refuses_a_replica)
{
    say(&fakes[2], ON_ROLE, "*5\r\n$5\r\nslave\r\n$1\r\nx\r\n:1\r\n$9\r\nconnected\r\n:0\r\n");
    assert_int_equal(DLOCK_IO, ping());
    assert_non_null(strstr(dlock_error(), "its ROLE is \"slave\""));
    assert_int_equal(0, atomic_load(&fakes[2].heard[ON_ANYTHING]));
}

TEST_WITH(set_up, tear_down, tells_of_an_unknown_name)
{
    for (int i = 0; i < 2; i++) {
        say(&fakes[i], ON_EPOCH, "-ERR No such master with that name\r\n");
        say(&fakes[i], ON_ADDRESS, "*-1\r\n");
    }
    assert_int_equal(DLOCK_IO, ping());
    assert_non_null(strstr(dlock_error(), "master shop"));
    assert_non_null(strstr(dlock_error(), "No such master with that name"));
}

/* ---- epochs ---- */

static struct redis_view view(const char *host, int64_t epoch)
{
    struct redis_view view = {.place.port = 6379, .epoch = epoch};

    snprintf(view.place.host, sizeof(view.place.host), "%s", host);
    return view;
}

TEST(follows_the_higher_epoch_alone)
{
    const struct redis_view old = view("old", 4), new = view("new", 5);
    const int64_t later_ns = REDIS_MASTER_FORGET_MS * DLOCK_NS_PER_MS;
    struct redis_master master;

    redis_master_init(&master, 3);
    assert_int_equal(1, redis_master_hear(&master, 0, &old, 1));
    assert_int_equal(1, redis_master_hear(&master, 1, &old, 1));
    assert_int_equal(2, redis_master_hear(&master, 0, &new, 2));
    /* The other two Sentinels have not heard of the fail-over, and are the majority of all. */
    assert_int_equal(0, redis_master_hear(&master, 1, &old, 3));
    assert_int_equal(0, redis_master_hear(&master, 2, &old, 3));
    assert_int_equal(2, redis_master_hear(&master, 0, &new, later_ns));
    assert_int_equal(0, redis_master_hear(&master, 1, &old, later_ns + 3));
    redis_master_destroy(&master);
}

TEST(follows_sentinels_that_count_anew)
{
    const struct redis_view old = view("old", 7), new = view("new", 0);
    const int64_t later_ns = REDIS_MASTER_FORGET_MS * DLOCK_NS_PER_MS;
    struct redis_master master;

    redis_master_init(&master, 3);
    assert_int_equal(1, redis_master_hear(&master, 0, &old, 0));
    assert_int_equal(0, redis_master_hear(&master, 0, &new, later_ns));
    assert_int_equal(2, redis_master_hear(&master, 1, &new, later_ns));
    redis_master_destroy(&master);
}

TEST_WITH(set_up, tear_down, leaves_a_stale_sentinel_alone)
{
    struct redis_link *link;
    int64_t end_ns = dlock_clock_after(dlock_clock_ns(), PATIENCE_MS);
    int asked_count;

    name_master(&fakes[1], &fakes[3], 2);
    assert_int_equal(DLOCK_OK, redis_link_open(&link, url, TIMEOUT_MS, false));
    while (redis_ping(link) != DLOCK_OK || atomic_load(&fakes[3].heard[ON_ANYTHING]) == 0)
        assert_true(dlock_clock_ns() < end_ns);
    /* The Sentinel with the old epoch is asked once more, and its answer is not used. */
    asked_count = atomic_load(&fakes[0].heard[ON_ADDRESS]);
    while (atomic_load(&fakes[0].heard[ON_ADDRESS]) < asked_count + 2)
        assert_true(dlock_clock_ns() < end_ns);
    asked_count = atomic_load(&fakes[2].heard[ON_ANYTHING]);
    redis_link_cut(link);
    assert_int_equal(DLOCK_OK, redis_ping(link));
    assert_int_equal(asked_count, atomic_load(&fakes[2].heard[ON_ANYTHING]));
    redis_link_close(link);
}

/* ---- a holder ---- */

static void note_loss(const dlock_lease *lease, void *arg)
{
    assert_string_equal("seat", lease->name);
    atomic_fetch_add((atomic_int *)arg, 1);
}

TEST_WITH(set_up, tear_down, tells_the_holder)
{
    dlock_options opts = dlock_options_default();
    struct timespec pause = {.tv_nsec = 5000000};
    atomic_int lost_count = 0;
    dlock_metrics metrics;
    dlock_system *sys;
    dlock_lease lease, next;
    int64_t end_ns;

    opts.variant = "naive";
    opts.redis_url = url;
    opts.redis_timeout_ms = TIMEOUT_MS;
    opts.lease_ms = 60000;
    opts.on_lost = note_loss;
    opts.on_lost_arg = &lost_count;
    assert_int_equal(DLOCK_OK, dlock_open(&sys, &opts));
    say(&fakes[2], ON_ANYTHING, "+OK\r\n");
    say(&fakes[3], ON_ANYTHING, "+OK\r\n");
    assert_int_equal(DLOCK_OK, dlock_acquire(sys, "seat", 0, &lease));
    assert_true(dlock_lease_valid(sys, &lease));
    name_master(&fakes[0], &fakes[3], 2);
    name_master(&fakes[1], &fakes[3], 2);
    end_ns = dlock_clock_after(dlock_clock_ns(), PATIENCE_MS);
    while (atomic_load(&lost_count) == 0) {
        nanosleep(&pause, NULL);
        assert_true(dlock_clock_ns() < end_ns);
    }
    assert_false(dlock_lease_valid(sys, &lease));
    assert_int_equal(DLOCK_OK, dlock_acquire(sys, "next", 0, &next));
    assert_true(dlock_lease_valid(sys, &next));
    assert_int_equal(1, atomic_load(&fakes[3].heard[ON_ANYTHING]));
    assert_int_equal(DLOCK_LOST, dlock_release(sys, &lease));
    /* The only command is the acquire: a DEL would have freed the lock of another owner. */
    assert_int_equal(1, atomic_load(&fakes[3].heard[ON_ANYTHING]));
    assert_int_equal(1, atomic_load(&lost_count));
    dlock_metrics_read(sys, &metrics);
    assert_int_equal(1, metrics.fail_overs);
    assert_int_equal(1, metrics.lost);
    assert_int_equal(1, metrics.lost_fail_over);
    say(&fakes[3], ON_ANYTHING, ":1\r\n");
    assert_int_equal(DLOCK_OK, dlock_release(sys, &next));
    dlock_close(sys);
}

/* Before an acquire on the new master returns, the holder's lease is no longer valid, even if the
 * watch of the Sentinels has not reported the change yet. */
TEST_WITH(set_up, tear_down, marks_the_holder_first)
{
    dlock_options opts = dlock_options_default();
    dlock_system *sys;
    dlock_lease lease, next;
    dlock_status st;

    opts.variant = "naive";
    opts.redis_url = url;
    opts.redis_timeout_ms = TIMEOUT_MS;
    opts.lease_ms = 60000;
    assert_int_equal(DLOCK_OK, dlock_open(&sys, &opts));
    say(&fakes[2], ON_ANYTHING, "+OK\r\n");
    say(&fakes[3], ON_ANYTHING, "+OK\r\n");
    assert_int_equal(DLOCK_OK, dlock_acquire(sys, "seat", 0, &lease));
    name_master(&fakes[0], &fakes[3], 2);
    name_master(&fakes[1], &fakes[3], 2);
    say(&fakes[2], ON_ANYTHING, "-READONLY You can't write against a read only replica.\r\n");
    do
        st = dlock_acquire(sys, "seat", 0, &next);
    while (st == DLOCK_IO);
    assert_int_equal(DLOCK_OK, st);
    assert_false(dlock_lease_valid(sys, &lease));
    assert_true(dlock_lease_valid(sys, &next));
    assert_int_equal(DLOCK_LOST, dlock_release(sys, &lease));
    dlock_close(sys);
}
