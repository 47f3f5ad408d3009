/* SPDX-License-Identifier: MIT */
/* test_lane.c -- one waiting order at a time leads, and every waiting order is
 * answered. */
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

#include "app/lane.h"
#include "base/os/clock.h"
#include "tests/registered.h"

enum { VOUCHER = 7, MAX = 16, FAR_MS = 60000 };

static struct lanes *lanes;

static int64_t in_ms(int64_t ms)
{
    return dlock_clock_ns() + ms * DLOCK_NS_PER_MS;
}

static bool all_fit(const struct lane_place *place, struct lane_place *const *batch,
                    size_t count)
{
    (void)place, (void)batch, (void)count;
    return true;
}

static int set_up(void **state)
{
    (void)state;
    lanes = lanes_new(LANES_WAITING_MAX, LANES_WAITING_MAX, 1);
    return lanes == NULL;
}

static int tear_down(void **state)
{
    (void)state;
    lanes_free(lanes);
    return 0;
}

static enum lane_answer lane_enter(int64_t voucher_id, struct lane_place *place, int64_t until_ns)
{
    enum lane_answer answer = lane_join(lanes, voucher_id, place);

    return answer == LANE_WAITS ? lane_wait(lanes, place, until_ns) : answer;
}

/* ---- a waiting order on a thread of its own ---- */

struct waiter {
    pthread_t thread;
    struct lane_place place;
    int number;
    int64_t until_ns;
    enum lane_answer answer;
    size_t sold; /* by this thread as a leader */
};

static void *wait_to_be_sold(void *arg)
{
    struct waiter *w = arg;
    struct lane_place *batch[MAX];

    w->place.order = w;
    w->answer = lane_enter(VOUCHER, &w->place, w->until_ns);
    if (w->answer != LANE_LEADS)
        return NULL;
    w->sold = lane_take(lanes, &w->place, all_fit, batch, MAX);
    lane_finish(lanes, &w->place, batch, w->sold);
    return NULL;
}

static void begin(struct waiter *w, int number, int64_t until_ns)
{
    int64_t before = lanes_waiting(lanes);

    *w = (struct waiter){.number = number, .until_ns = until_ns};
    assert_int_equal(pthread_create(&w->thread, NULL, wait_to_be_sold, w), 0);
    while (lanes_waiting(lanes) != before + 1)
        dlock_clock_sleep_until(in_ms(1));
}

static void join(struct waiter *w)
{
    assert_int_equal(pthread_join(w->thread, NULL), 0);
}

/* ---- the tests ---- */

TEST(the_first_leads_at_once_and_alone)
{
    struct lane_place place = {0}, *batch[MAX];

    for (int again = 0; again < 2; again++) {
        assert_int_equal(lane_enter(VOUCHER, &place, in_ms(FAR_MS)), LANE_LEADS);
        assert_int_equal(lane_take(lanes, &place, all_fit, batch, MAX), 1);
        assert_ptr_equal(batch[0], &place);
        lane_finish(lanes, &place, batch, 1);
    }
    assert_int_equal(lanes_waiting(lanes), 0);
}

TEST(those_who_wait_are_taken_in_the_order_they_came)
{
    struct lane_place leader = {0}, *batch[MAX];
    struct waiter waiters[3];

    assert_int_equal(lane_enter(VOUCHER, &leader, in_ms(FAR_MS)), LANE_LEADS);
    for (int i = 0; i < 3; i++)
        begin(&waiters[i], i, in_ms(FAR_MS));
    assert_int_equal(lane_take(lanes, &leader, all_fit, batch, 3), 3);
    assert_ptr_equal(batch[1], &waiters[0].place);
    assert_ptr_equal(batch[2], &waiters[1].place);
    lane_finish(lanes, &leader, batch, 3);
    for (int i = 0; i < 3; i++)
        join(&waiters[i]);
    assert_int_equal(waiters[0].answer, LANE_DONE);
    assert_int_equal(waiters[1].answer, LANE_DONE);
    assert_int_equal(waiters[2].answer, LANE_LEADS); /* so no order is left in the lane */
    assert_int_equal(waiters[2].sold, 1);
}

TEST(no_more_wait_than_may)
{
    struct lanes *wide = lanes;
    struct lane_place leader = {0}, *batch[MAX], more = {0};
    struct waiter waiters[2];

    lanes = lanes_new(2, LANES_WAITING_MAX, 1);
    assert_non_null(lanes);
    assert_int_equal(lane_enter(VOUCHER, &leader, in_ms(FAR_MS)), LANE_LEADS);
    for (int i = 0; i < 2; i++)
        begin(&waiters[i], i, in_ms(FAR_MS));
    assert_int_equal(lane_enter(VOUCHER, &more, in_ms(FAR_MS)), LANE_FULL);
    assert_int_equal(lane_take(lanes, &leader, all_fit, batch, 2), 2);
    lane_finish(lanes, &leader, batch, 2);
    for (int i = 0; i < 2; i++)
        join(&waiters[i]);
    assert_int_equal(lane_enter(VOUCHER, &more, in_ms(FAR_MS)), LANE_LEADS);
    assert_int_equal(lane_take(lanes, &more, all_fit, batch, 2), 1);
    lane_finish(lanes, &more, batch, 1);
    lanes_free(lanes);
    lanes = wide;
}

TEST(a_voucher_has_as_many_leaders_as_it_may)
{
    struct lanes *narrow = lanes;
    struct lane_place one = {0}, two = {0}, *batch[MAX];
    struct waiter third;

    lanes = lanes_new(LANES_WAITING_MAX, LANES_WAITING_MAX, 2);
    assert_non_null(lanes);
    assert_int_equal(lane_enter(VOUCHER, &one, in_ms(FAR_MS)), LANE_LEADS);
    assert_int_equal(lane_enter(VOUCHER, &two, in_ms(FAR_MS)), LANE_LEADS);
    begin(&third, 3, in_ms(FAR_MS)); /* it waits */
    assert_int_equal(lane_take(lanes, &one, all_fit, batch, 1), 1);
    lane_finish(lanes, &one, batch, 1);
    join(&third);
    assert_int_equal(third.answer, LANE_LEADS);
    assert_int_equal(lane_enter(VOUCHER, &one, in_ms(FAR_MS)), LANE_LEADS); /* in its place */
    lane_finish(lanes, &one, batch, 1);
    batch[0] = &two;
    lane_finish(lanes, &two, batch, 1);
    assert_int_equal(lane_enter(VOUCHER, &one, in_ms(FAR_MS)), LANE_LEADS);
    lane_finish(lanes, &one, batch, 0);
    lanes_free(lanes);
    lanes = narrow;
}

static bool is_even(const struct lane_place *place, struct lane_place *const *batch,
                    size_t count)
{
    const struct waiter *w = place->order;

    (void)batch, (void)count;
    return w->number % 2 == 0;
}

TEST(an_order_that_does_not_fit_leads_next)
{
    struct lane_place leader = {0}, *batch[MAX];
    struct waiter waiters[4];

    assert_int_equal(lane_enter(VOUCHER, &leader, in_ms(FAR_MS)), LANE_LEADS);
    for (int i = 0; i < 4; i++)
        begin(&waiters[i], i + 1, in_ms(FAR_MS));
    assert_int_equal(lane_take(lanes, &leader, is_even, batch, MAX), 3);
    lane_finish(lanes, &leader, batch, 3);
    for (int i = 0; i < 4; i++)
        join(&waiters[i]);
    assert_int_equal(waiters[0].answer, LANE_LEADS);
    assert_int_equal(waiters[1].answer, LANE_DONE);
    assert_int_equal(waiters[3].answer, LANE_DONE);
    assert_true(waiters[2].answer == LANE_DONE || waiters[2].answer == LANE_LEADS);
}

TEST(an_order_that_is_late_is_in_no_batch)
{
    struct lane_place leader = {0}, *batch[MAX], late = {0};
    struct waiter last;

    assert_int_equal(lane_enter(VOUCHER, &leader, in_ms(FAR_MS)), LANE_LEADS);
    assert_int_equal(lane_enter(VOUCHER, &late, in_ms(10)), LANE_LATE);
    assert_int_equal(lanes_waiting(lanes), 0);
    begin(&last, 1, in_ms(FAR_MS));
    assert_int_equal(lane_take(lanes, &leader, all_fit, batch, MAX), 2);
    assert_ptr_equal(batch[1], &last.place);
    lane_finish(lanes, &leader, batch, 2);
    join(&last);
    assert_int_equal(last.answer, LANE_DONE);
}

TEST(vouchers_do_not_wait_for_each_other)
{
    struct lane_place one = {0}, two = {0}, *batch[MAX];

    assert_int_equal(lane_enter(VOUCHER, &one, in_ms(FAR_MS)), LANE_LEADS);
    assert_int_equal(lane_enter(VOUCHER + 64, &two, in_ms(FAR_MS)), LANE_LEADS);
    assert_int_equal(lane_take(lanes, &two, all_fit, batch, MAX), 1);
    lane_finish(lanes, &two, batch, 1);
    assert_int_equal(lane_take(lanes, &one, all_fit, batch, MAX), 1);
    lane_finish(lanes, &one, batch, 1);
}

enum { THREADS = 8, TIMES = 2000 };

static atomic_int leaders, sold;

static void *sell_often(void *arg)
{
    struct lane_place place = {0}, *batch[MAX];

    for (int i = 0; i < TIMES; i++) {
        enum lane_answer answer = lane_enter(VOUCHER, &place, in_ms(FAR_MS));
        size_t count;

        if (answer != LANE_LEADS) {
            assert_int_equal(answer, LANE_DONE);
            continue;
        }
        assert_int_equal(atomic_fetch_add(&leaders, 1), 0);
        count = lane_take(lanes, &place, all_fit, batch, 3);
        atomic_fetch_add(&sold, (int)count);
        atomic_fetch_sub(&leaders, 1);
        lane_finish(lanes, &place, batch, count);
    }
    return arg;
}

TEST(at_most_one_leads_and_each_is_sold_once)
{
    pthread_t threads[THREADS];

    atomic_store(&sold, 0);
    for (int i = 0; i < THREADS; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, sell_often, NULL), 0);
    for (int i = 0; i < THREADS; i++)
        (void)pthread_join(threads[i], NULL);
    assert_int_equal(atomic_load(&sold), THREADS * TIMES);
    assert_int_equal(lanes_waiting(lanes), 0);
}

GROUP(set_up, tear_down)
