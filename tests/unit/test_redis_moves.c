/* SPDX-License-Identifier: MIT */
/* test_redis_moves.c -- waiters whose channel moves to another server of a cluster, at each moment
 * of their beginning. */
#include <stdio.h>
#include <string.h>

#include "base/os/clock.h"
#include "lock/stores/redis_wake.h"
#include "tests/registered.h"

enum { SERVERS = 3 };

static struct redis_channels servers[SERVERS];
static int owner;       /* the server that has the channel now */
static int owner_later; /* the server that has it after the next question; -1: the same one */
static char said[256];

static void nudge(void *arg)
{
    (void)arg;
}

static struct redis_channels *elsewhere(void *arg, const char *name)
{
    struct redis_channels *now = &servers[owner];

    (void)arg;
    assert_string_equal("c", name);
    if (owner_later >= 0)
        owner = owner_later;
    owner_later = -1;
    return now;
}

static int set_up(void **state)
{
    (void)state;
    owner = 0;
    owner_later = -1;
    for (int i = 0; i < SERVERS; i++) {
        redis_channels_init(&servers[i], nudge, NULL);
        servers[i].is_sharded = true;
        servers[i].elsewhere = elsewhere;
    }
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    for (int i = 0; i < SERVERS; i++)
        redis_channels_destroy(&servers[i]);
    return 0;
}

static bool say(void *arg, const char *verb, const char *name)
{
    size_t len = strlen(said);

    (void)arg;
    snprintf(said + len, sizeof(said) - len, "%s %s;", verb, name);
    return true;
}

/* The commands that server `i` is sent now. */
static const char *settle(int i)
{
    said[0] = '\0';
    assert_true(redis_channels_settle(&servers[i], say, NULL));
    return said;
}

static bool woken(struct redis_waiter *waiter)
{
    return redis_waiter_sleep(waiter, 0);
}

static struct redis_waiter *join(int i)
{
    struct redis_waiter *waiter =
        redis_channels_join(&servers[i], "c", (struct redis_wake){.rule = &REDIS_WAKE_LOCK});

    assert_non_null(waiter);
    return waiter;
}

static bool stays(void *arg, const char *name)
{
    (void)arg;
    (void)name;
    return false;
}

TEST_WITH(set_up, tear_down, a_waiter_goes_with_its_channel)
{
    struct redis_waiter *waiter = join(0);

    assert_string_equal("SUBSCRIBE c;", settle(0));
    owner = 1;
    redis_channels_sift(&servers[0], stays, NULL);
    assert_true(woken(waiter)); /* the waiter asks the store */
    assert_string_equal("", settle(1));
    assert_false(woken(waiter)); /* and sleeps at the other server */
    assert_string_equal("SUBSCRIBE c;", settle(1));
    assert_string_equal("", settle(0));
    assert_true(redis_channels_is_empty(&servers[0]));
    redis_waiter_leave(waiter, true);
}

/* The waiter has chosen its server before the move, and subscribes after the moved channels of this
 * server were removed. */
TEST_WITH(set_up, tear_down, a_waiter_that_joins_behind_a_move_goes_on)
{
    struct redis_waiter *waiter;

    owner = 1;
    redis_channels_sift(&servers[0], stays, NULL);
    waiter = join(0);
    /* The server would refuse it and all other channels of the command. */
    assert_string_equal("", settle(0));
    assert_true(woken(waiter));
    assert_false(woken(waiter));
    assert_string_equal("SUBSCRIBE c;", settle(1));
    redis_waiter_leave(waiter, true);
}

TEST_WITH(set_up, tear_down, a_waiter_that_follows_behind_a_move_goes_on)
{
    struct redis_waiter *waiter = join(0);

    owner = 1;
    redis_channels_sift(&servers[0], stays, NULL);
    assert_true(woken(waiter));
    owner_later = 2; /* the channel moves between the choice of a server and the subscription */
    assert_true(woken(waiter));
    assert_string_equal("", settle(1));
    assert_false(woken(waiter));
    assert_string_equal("SUBSCRIBE c;", settle(2));
    redis_waiter_leave(waiter, true);
}
