/* SPDX-License-Identifier: MIT */
/* test_place_record.c -- the record of a place in a queue that a waiter gave up: a
 * waiter that came meanwhile may be served first, and the checker allows that. */
#include "tests/registered.h"
#include "tests/unit/proxied_redis.h"
#include "tests/unit/recorder_run.h"

enum { HANDOVER = 8 };

#define NAME "place"
#define QUEUE "redisson_lock_queue:{" NAME "}"

static dlock_system *open_system(const char *url, int handover)
{
    dlock_options opts = dlock_options_default();
    dlock_system *sys = NULL;

    opts.variant = "fair";
    opts.redis_url = url;
    opts.record_dir = dir;
    opts.handover = handover;
    assert_int_equal(DLOCK_OK, dlock_open(&sys, &opts));
    return sys;
}

static void *take(void *opaque)
{
    dlock_system *sys = opaque;
    dlock_lease lease;

    if (dlock_acquire(sys, NAME, -1, &lease) != DLOCK_OK ||
        dlock_release(sys, &lease) != DLOCK_OK)
        return opaque;
    return NULL;
}

/* Count the waits of this phase in the records so far. */
static size_t count_waits(dlock_wait_phase phase)
{
    struct history h = read_back();
    size_t count = 0;

    for (size_t i = 0; i < h.mark_count; i++)
        count += h.marks[i].kind == DLOCK_EVENT_WAIT && h.marks[i].detail == (int)phase;
    history_free(&h);
    return count;
}

static void finish(pthread_t thread, dlock_system *sys)
{
    void *failed = NULL;

    assert_int_equal(0, pthread_join(thread, &failed));
    assert_null(failed);
    dlock_close(sys);
}

/* The first waiter's connection is cut before an answer. The waiter gives up its place, and is then
 * behind the second waiter. */
static void give_a_place_up(int handover)
{
    static char url[96], proxied[96];
    dlock_system *holder, *first, *second;
    pthread_t first_thread, second_thread;
    struct history h;
    dlock_lease lease;

    snprintf(url, sizeof(url), "unix://%s", server.path);
    snprintf(proxied, sizeof(proxied), "redis://127.0.0.1:%d", proxy_port(wire));
    holder = open_system(url, 0);
    first = open_system(proxied, handover);
    second = open_system(url, handover);
    assert_int_equal(DLOCK_OK, dlock_acquire(holder, NAME, 0, &lease));
    assert_int_equal(0, pthread_create(&first_thread, NULL, take, first));
    assert_comes(count_waits(DLOCK_WAIT_BEGUN) == 1);
    assert_int_equal(0, pthread_create(&second_thread, NULL, take, second));
    assert_comes(count_waits(DLOCK_WAIT_BEGUN) == 2);
    assert_true(proxy_arm(wire, "cut to-client at to-server EVALSHA", why) >= 0);
    assert_comes(count_waits(DLOCK_WAIT_GIVEN_UP) == 1);
    assert_comes(count_waits(DLOCK_WAIT_BEGUN) == 3 && tell("LLEN " QUEUE) == 2);
    assert_int_equal(DLOCK_OK, dlock_release(holder, &lease));
    finish(first_thread, first);
    finish(second_thread, second);
    dlock_close(holder);
    h = read_back();
    assert_int_equal(VERDICT_VALID, judge(&h));
    history_free(&h);
}

static int begin_test(void **state)
{
    return make_dir(state) + set_up(state);
}

static int end_test(void **state)
{
    return tear_down(state) + remove_dir(state);
}

TEST_WITH(begin_test, end_test, a_place_given_up_is_recorded)
{
    give_a_place_up(0);
}

TEST_WITH(begin_test, end_test, a_place_of_a_line_given_up_is_recorded)
{
    give_a_place_up(HANDOVER);
}

GROUP(start_server, stop_server)
