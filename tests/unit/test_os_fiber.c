/* SPDX-License-Identifier: MIT */
/* test_os_fiber.c -- the fibers of a loop: turns, sleeps, and sleeps that are ended early. */
#include "tests/registered.h"
#include "tests/unit/fibers.h"

enum { MORE_THAN_IDLE = 1100 };

/* ---- turns ---- */

static void tell_thrice(struct work *work)
{
    for (int i = 0; i < 3; i++) {
        tell((char)('a' + work->number));
        dlock_thread_yield();
    }
}

TEST(fibers_take_turns)
{
    struct dlock_loop *loop = open_loop();
    struct work works[3] = {{.number = 0}, {.number = 1}, {.number = 2}};

    for (int i = 0; i < 3; i++)
        begin(loop, &works[i], tell_thrice, NULL);
    turn_to_the_end(loop);
    assert_string_equal("abcabcabc", story);
    for (int i = 0; i < 3; i++)
        assert_int_equal(1, works[i].done_count);
    dlock_loop_free(loop);
}

static void keep_floats(struct work *work)
{
    volatile double mine = work->number + 0.5;
    char text[2048];

    memset(text, work->number, sizeof(text));
    for (int i = 0; i < 3; i++) {
        dlock_thread_yield();
        assert_true(mine == work->number + 0.5);
        assert_int_equal((unsigned char)work->number, (unsigned char)text[i * 700]);
        assert_ptr_equal(work->arg, dlock_fiber_here()->local);
        dlock_fiber_here()->tallies[0]++;
    }
    assert_int_equal(3, dlock_fiber_here()->tallies[0]);
}

TEST(each_keeps_what_is_its_own)
{
    struct dlock_loop *loop = open_loop();
    static struct work works[MANY];

    for (int round = 0; round < 2; round++) { /* the second round uses the fibers of the first */
        for (int i = 0; i < MANY; i++) {
            works[i].number = i;
            begin(loop, &works[i], keep_floats, &works[i]);
        }
        turn_to_the_end(loop);
    }
    dlock_loop_free(loop);
}

static void yield_once(struct work *work)
{
    (void)work;
    dlock_thread_yield();
}

TEST(more_fibers_than_are_kept_come_and_go)
{
    struct dlock_loop *loop = open_loop();
    static struct work works[MORE_THAN_IDLE];

    for (int i = 0; i < MORE_THAN_IDLE; i++)
        begin(loop, &works[i], yield_once, NULL);
    turn_to_the_end(loop);
    dlock_loop_free(loop);
}

/* ---- sleeping ---- */

static void sleep_as_long_as_its_number(struct work *work)
{
    dlock_clock_sleep_until(in_ms(work->number));
    tell((char)('0' + work->number / 10));
}

TEST(sleeps_end_in_the_order_of_their_ends)
{
    struct dlock_loop *loop = open_loop();
    struct work works[3] = {{.number = 90}, {.number = 10}, {.number = 50}};
    int64_t begun_ns = dlock_clock_ns();

    for (int i = 0; i < 3; i++)
        begin(loop, &works[i], sleep_as_long_as_its_number, NULL);
    turn_to_the_end(loop);
    assert_string_equal("159", story);
    assert_true(dlock_clock_ns() - begun_ns >= 90 * DLOCK_NS_PER_MS);
    dlock_loop_free(loop);
}

static void sleep_long_then_short(struct work *work)
{
    struct dlock_bell bell = {0};

    dlock_bell_ring(&bell);
    assert_true(dlock_bell_wait(&bell, INT64_MAX));
    bell = (struct dlock_bell){0};
    assert_false(dlock_bell_wait(&bell, in_ms(SHORT_MS * 4)));
    assert_false(dlock_bell_wait(&bell, in_ms(SHORT_MS)));
    assert_false(dlock_bell_wait(&bell, INT64_MIN));
    (void)work;
}

TEST(a_bell_that_nobody_rings_ends_by_its_time)
{
    struct dlock_loop *loop = open_loop();
    struct work work = {0};

    begin(loop, &work, sleep_long_then_short, NULL);
    turn_to_the_end(loop);
    dlock_loop_free(loop);
}

/* A loop inside of another loop: its descriptor shows that a sleep is over. */
TEST(the_descriptor_tells_of_the_end_of_a_sleep)
{
    struct dlock_loop *loop = open_loop();
    struct work work = {.number = 20};

    assert_int_equal(0, dlock_poll_one(dlock_loop_fd(loop), POLLIN, 0));
    begin(loop, &work, sleep_as_long_as_its_number, NULL);
    assert_int_equal(POLLIN, dlock_poll_one(dlock_loop_fd(loop), POLLIN, in_ms(LONG_MS)));
    for (int i = 0; i < 20 && open_count > 0; i++) {
        assert_int_equal(POLLIN, dlock_poll_one(dlock_loop_fd(loop), POLLIN, in_ms(LONG_MS)));
        dlock_loop_turn(loop, 0);
    }
    assert_int_equal(1, work.done_count);
    assert_int_equal(0, dlock_poll_one(dlock_loop_fd(loop), POLLIN, 0));
    dlock_loop_free(loop);
}

/* ---- hurries ---- */

static void sleep_in_haste(struct work *work)
{
    struct dlock_bell bell = {0};

    assert_false(dlock_fiber_is_hurried());
    dlock_fiber_let_hurry(true);
    dlock_clock_sleep_until(INT64_MAX);
    assert_false(dlock_bell_wait(&bell, INT64_MAX));
    dlock_fiber_let_hurry(false);
    assert_true(dlock_fiber_is_hurried());
    dlock_bell_ring(&bell);
    assert_true(dlock_bell_wait(&bell, INT64_MAX));
    (void)work;
}

static void sleep_in_peace(struct work *work)
{
    dlock_clock_sleep_until(in_ms(SHORT_MS * 4));
    assert_true(dlock_fiber_is_hurried());
    tell('p');
    (void)work;
}

static void hurry_both(struct work *work)
{
    struct work *works = work->arg;

    dlock_job_hurry(&works[0].job);
    dlock_job_hurry(&works[1].job);
    dlock_thread_yield();
    dlock_thread_yield();
    assert_string_equal("", story);
    assert_int_equal(1, works[0].done_count);
    assert_int_equal(0, works[1].done_count);
}

TEST(a_hurry_ends_only_sleeps_that_allow_it)
{
    struct dlock_loop *loop = open_loop();
    struct work works[3] = {{.number = 0}};

    begin(loop, &works[0], sleep_in_haste, NULL);
    begin(loop, &works[1], sleep_in_peace, NULL);
    begin(loop, &works[2], hurry_both, works);
    turn_to_the_end(loop);
    assert_string_equal("p", story);
    dlock_loop_free(loop);
}
