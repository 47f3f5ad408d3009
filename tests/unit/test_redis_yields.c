/* SPDX-License-Identifier: MIT */
/* test_redis_yields.c -- when the threads of a link stop yielding the processor.
 *
 * This file defines the clock_gettime() and sched_yield() of the C library. A group without
 * links has nothing to send, so its driver only yields and sleeps. */
#include <sched.h>
#include <stdbool.h>
#include <time.h>

#include "base/os/clock.h"
#include "base/redis/driver.h"
#include "base/redis/link_group.h"
#include "tests/registered.h"

enum {
    READING_NS = 100, /* each reading of the clock moves it by this time */
    SHORT_NS = 2000,
    LONG_NS = 5000000, /* a yield after which another program had the processor */
    PAUSE_MS = 100,    /* the time without yields after a long yield */
};

static struct redis_link_group *group;
static int64_t now_ns;
static int64_t yield_ns; /* the length of each yield */
static int yield_count;

int clock_gettime(clockid_t id, struct timespec *ts)
{
    (void)id;
    now_ns += READING_NS;
    *ts = (struct timespec){.tv_sec = (time_t)(now_ns / 1000000000),
                            .tv_nsec = now_ns % 1000000000};
    return 0;
}

int sched_yield(void)
{
    yield_count++;
    now_ns += yield_ns;
    return 0;
}

static int set_up(void **state)
{
    (void)state;
    now_ns = INT64_C(1000000000);
    yield_ns = SHORT_NS;
    yield_count = 0;
    group = redis_link_group_open();
    assert_non_null(group);
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    redis_link_group_let_go(group);
    return 0;
}

/* A thread waits as the driver for an answer that does not come, while another thread is expected
 * to ask. Returns the number of the driver's yields. */
static int drive(void)
{
    struct redis_wait wait = {.open_count = 1};
    int before = yield_count;

    redis_link_group_lock(group);
    assert_true(redis_link_group_become_driver(group, &wait));
    group->answered_count = 2;
    redis_link_group_expect(group);
    redis_driver_drive(group, &wait, now_ns + SHORT_NS);
    redis_driver_leave(group, &wait);
    group->expected_count = group->doubts = 0;
    redis_link_group_unlock(group);
    return yield_count - before;
}

/* ---- tests ---- */

TEST_WITH(set_up, tear_down, threads_yield_while_yields_are_short)
{
    for (int i = 1; i <= 20; i++) {
        assert_true(redis_link_group_yield(group));
        assert_int_equal(i, yield_count);
    }
}

TEST_WITH(set_up, tear_down, a_long_yield_ends_all_yields_for_a_while)
{
    int64_t begin_ns = now_ns;

    yield_ns = LONG_NS;
    assert_true(redis_link_group_yield(group));
    yield_ns = SHORT_NS;
    assert_false(redis_link_group_yield(group));
    now_ns = dlock_clock_after(begin_ns, PAUSE_MS - 1);
    assert_false(redis_link_group_yield(group));
    assert_int_equal(1, yield_count);
    now_ns = dlock_clock_after(begin_ns, PAUSE_MS + 1);
    assert_true(redis_link_group_yield(group));
    assert_int_equal(2, yield_count);
}

TEST_WITH(set_up, tear_down, the_driver_makes_way_for_those_who_are_expected)
{
    assert_true(drive() > 1);
    assert_true(drive() > 1);
}

TEST_WITH(set_up, tear_down, the_driver_stops_yielding_beside_a_busy_program)
{
    int64_t begin_ns = now_ns;

    yield_ns = LONG_NS;
    assert_int_equal(1, drive());
    for (int i = 0; i < 10; i++)
        assert_int_equal(0, drive());
    /* Threads that wait for the driver do not yield either. */
    assert_false(redis_link_group_yield(group));
    now_ns = dlock_clock_after(begin_ns, PAUSE_MS + 1);
    yield_ns = SHORT_NS;
    assert_true(drive() > 1);
}
