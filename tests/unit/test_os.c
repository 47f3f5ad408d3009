/* SPDX-License-Identifier: MIT */
/* test_os.c -- the contracts of base/os/: mutexes, conditions, threads, events and
 * UUIDs. */
#include <limits.h>
#include <stdbool.h>
#include <string.h>
#include <unistd.h>

#include "base/os/clock.h"
#include "base/os/condition.h"
#include "base/os/event.h"
#include "base/os/once.h"
#include "base/os/random.h"
#include "base/os/thread.h"
#include "tests/registered.h"

enum { SHORT_MS = 5, LONG_MS = 60000 };

static int64_t in_ms(int64_t ms)
{
    return dlock_clock_after(dlock_clock_ns(), ms);
}

/* ---- a condition, between two threads ---- */

struct box {
    struct dlock_mutex mutex;
    struct dlock_condition changed;
    bool is_full;
};

static void *fill_box(void *arg)
{
    struct box *box = arg;

    dlock_mutex_lock(&box->mutex);
    box->is_full = true;
    dlock_condition_broadcast(&box->changed);
    dlock_mutex_unlock(&box->mutex);
    return NULL;
}

TEST(a_condition_wakes_who_waits_for_it)
{
    struct box box = {.mutex = DLOCK_MUTEX_INITIALIZER};
    struct dlock_thread other;
    int64_t until_ns = in_ms(LONG_MS);

    assert_true(dlock_condition_init(&box.changed));
    dlock_mutex_lock(&box.mutex);
    assert_int_equal(0, dlock_thread_start(&other, fill_box, &box));
    while (!box.is_full)
        assert_true(dlock_condition_wait_until(&box.changed, &box.mutex, until_ns));
    dlock_mutex_unlock(&box.mutex);
    dlock_thread_join(&other);
    dlock_condition_destroy(&box.changed);
    dlock_mutex_destroy(&box.mutex);
}

TEST(a_wait_for_a_condition_ends_at_its_time_and_not_before)
{
    struct box box = {.mutex = DLOCK_MUTEX_INITIALIZER};
    int64_t until_ns;

    assert_true(dlock_condition_init(&box.changed));
    dlock_mutex_lock(&box.mutex);
    until_ns = in_ms(SHORT_MS);
    while (dlock_condition_wait_until(&box.changed, &box.mutex, until_ns))
        ; /* a wait may end early */
    assert_true(dlock_clock_ns() >= until_ns);
    assert_false(dlock_condition_wait_until(&box.changed, &box.mutex, until_ns));
    dlock_mutex_unlock(&box.mutex);
    dlock_condition_destroy(&box.changed);
}

/* ---- threads ---- */

static struct dlock_thread_value value;
static int ended_count;

static void at_end(void *counter)
{
    if (++*(int *)counter < DLOCK_THREAD_END_CALLS)
        assert_true(dlock_thread_value_set(value, counter));
}

static void *set_value(void *arg)
{
    assert_null(dlock_thread_value_get(value));
    assert_true(dlock_thread_value_set(value, arg));
    assert_ptr_equal(arg, dlock_thread_value_get(value));
    return NULL;
}

TEST(the_end_of_a_thread_is_told_as_often_as_it_asks_for)
{
    struct dlock_thread other;

    assert_true(dlock_thread_value_make(&value, at_end));
    assert_int_equal(0, dlock_thread_start(&other, set_value, &ended_count));
    dlock_thread_join(&other);
    assert_int_equal(DLOCK_THREAD_END_CALLS, ended_count);
    assert_null(dlock_thread_value_get(value));
}

static void *tell_id(void *arg)
{
    *(uint32_t *)arg = dlock_thread_id();
    dlock_thread_yield();
    return NULL;
}

TEST(two_threads_have_two_numbers)
{
    struct dlock_thread other;
    uint32_t id = 0;

    assert_int_equal(0, dlock_thread_start(&other, tell_id, &id));
    dlock_thread_join(&other);
    assert_int_not_equal(0, id);
    assert_int_not_equal(id, dlock_thread_id());
}

static int made_count;

static void make(void)
{
    made_count++;
}

TEST(a_thing_is_made_once)
{
    static struct dlock_once once = DLOCK_ONCE_INITIALIZER;

    dlock_once_run(&once, make);
    dlock_once_run(&once, make);
    assert_int_equal(1, made_count);
}

/* ---- events ---- */

TEST(an_event_is_readable_from_its_raise_to_its_clear)
{
    int event_fd = dlock_event_open();
    uint64_t count = 0;

    assert_true(event_fd >= 0);
    assert_int_equal(0, dlock_poll_one(event_fd, POLLIN, 0));
    dlock_event_raise(event_fd, 2);
    dlock_event_raise(event_fd, 3);
    assert_int_equal(POLLIN, dlock_poll_one(event_fd, POLLIN, INT64_MAX));
    dlock_event_clear(event_fd);
    dlock_event_clear(event_fd);
    assert_int_equal(0, dlock_poll_one(event_fd, POLLIN, INT64_MIN));
    dlock_event_raise(event_fd, 2);
    dlock_event_raise(event_fd, 3);
    assert_int_equal(sizeof(count), read(event_fd, &count, sizeof(count)));
    assert_int_equal(5, count);
    dlock_event_close(event_fd);
}

static void *raise_it(void *arg)
{
    dlock_event_raise(*(int *)arg, 1);
    return NULL;
}

TEST(an_event_wakes_who_polls)
{
    int event_fd = dlock_event_open();
    struct pollfd polled[] = {{.fd = -1, .events = POLLIN}, {.fd = event_fd, .events = POLLIN}};
    struct dlock_thread other;

    assert_int_equal(0, dlock_thread_start(&other, raise_it, &event_fd));
    assert_int_equal(1, dlock_poll_until(polled, 2, in_ms(LONG_MS)));
    assert_int_equal(0, polled[0].revents);
    assert_int_equal(POLLIN, polled[1].revents);
    dlock_thread_join(&other);
    dlock_event_close(event_fd);
}

TEST(a_poll_ends_at_its_time_and_not_before)
{
    int event_fd = dlock_event_open();
    int64_t until_ns = in_ms(SHORT_MS);

    while (dlock_clock_ns() < until_ns)
        assert_int_equal(0, dlock_poll_one(event_fd, POLLIN, until_ns));
    dlock_event_close(event_fd);
}

/* ---- UUIDs ---- */

TEST(a_uuid_is_one_of_version_4_in_lower_case)
{
    char one[DLOCK_UUID_LEN + 1];
    char other[DLOCK_UUID_LEN + 1];

    dlock_random_uuid(one);
    dlock_random_uuid(other);
    assert_string_not_equal(one, other);
    assert_int_equal(DLOCK_UUID_LEN, strlen(one));
    assert_int_equal(DLOCK_UUID_LEN, strspn(one, "0123456789abcdef-"));
    for (size_t i = 0; i < DLOCK_UUID_LEN; i++)
        assert_int_equal(i == 8 || i == 13 || i == 18 || i == 23, one[i] == '-');
    assert_int_equal('4', one[14]);
    assert_non_null(strchr("89ab", one[19]));
}
