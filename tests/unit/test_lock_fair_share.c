/* SPDX-License-Identifier: MIT */
/* test_lock_fair_share.c -- when a process delays its requests in favour of other processes. */
#include <pthread.h>
#include <sched.h>
#include <stdio.h>

#include "base/os/clock.h"
#include "lock/fair_share.h"
#include "tests/registered.h"

#define CHANNEL "redisson_lock__channel:{hot}"

enum { MANY = 1000 };

static struct dlock_fair_shares shares;

static int set_up(void **state)
{
    (void)state;
    dlock_fair_shares_init(&shares);
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    dlock_fair_shares_destroy(&shares);
    return 0;
}

/* Acquire and release once in this process while `others` wait. Returns true if the request was
 * delayed. */
static bool take_and_release(int64_t others)
{
    bool was_held_back = dlock_fair_shares_hold_back(&shares, CHANNEL, INT64_MAX);

    if (was_held_back)
        dlock_fair_shares_answered(&shares, CHANNEL, false);
    dlock_fair_shares_released(&shares, CHANNEL, others);
    return was_held_back;
}

static bool is_a_turn_open(void)
{
    for (int i = 0; i < DLOCK_SHARE_SLOTS; i++)
        if (shares.slots[i].is_open)
            return true;
    return false;
}

/* Release while others wait, until it is the turn of the others, which lasts much longer than the
 * test. */
static void open_a_turn(void)
{
    for (int i = 0; i < MANY && !is_a_turn_open(); i++)
        dlock_fair_shares_released(&shares, CHANNEL, 1);
    assert_true(is_a_turn_open());
    for (int i = 0; i < DLOCK_SHARE_SLOTS; i++)
        shares.slots[i].until_ns += 20 * DLOCK_NS_PER_MS;
}

TEST_WITH(set_up, tear_down, a_process_that_is_alone_is_never_held_back)
{
    for (int i = 0; i < MANY; i++)
        assert_false(take_and_release(0));
}

TEST_WITH(set_up, tear_down, a_process_with_every_grant_gives_the_others_a_turn)
{
    open_a_turn();
    assert_true(dlock_fair_shares_hold_back(&shares, CHANNEL, INT64_MAX));
}

TEST_WITH(set_up, tear_down, a_process_with_half_of_the_grants_is_never_held_back)
{
    for (int i = 0; i < MANY; i++) {
        assert_false(take_and_release(1));
        (void)dlock_fair_shares_heard(&shares, CHANNEL); /* the message of this process' release */
        (void)dlock_fair_shares_heard(&shares, CHANNEL); /* the message of the other's release */
    }
}

TEST_WITH(set_up, tear_down, a_turn_ends_when_the_others_have_had_their_share)
{
    int heard_count = 0;

    open_a_turn();
    for (; heard_count < MANY && is_a_turn_open(); heard_count++)
        (void)dlock_fair_shares_heard(&shares, CHANNEL);
    assert_in_range(heard_count, 2, DLOCK_SHARE_OWN * DLOCK_SHARE_HEARD);
    assert_false(dlock_fair_shares_hold_back(&shares, CHANNEL, INT64_MAX));
}

TEST_WITH(set_up, tear_down, a_turn_that_nobody_uses_ends_by_itself)
{
    open_a_turn();
    assert_true(dlock_fair_shares_hold_back(&shares, CHANNEL, INT64_MAX));
    dlock_fair_shares_answered(&shares, CHANNEL, false);
    assert_false(dlock_fair_shares_hold_back(&shares, CHANNEL, INT64_MAX));
}

TEST_WITH(set_up, tear_down, turns_that_nobody_uses_become_rare)
{
    int held_back = 0;

    for (int i = 0; i < 10 * MANY; i++)
        held_back += take_and_release(1);
    assert_in_range(held_back, 1, MANY);
    held_back = 0;
    for (int i = 0; i < MANY; i++)
        held_back += take_and_release(1);
    assert_in_range(held_back, 1, MANY / 100);
}

TEST_WITH(set_up, tear_down, a_waiter_is_held_back_no_longer_than_it_waits)
{
    int64_t until_ns;

    open_a_turn();
    until_ns = dlock_clock_ns();
    (void)dlock_fair_shares_hold_back(&shares, CHANNEL, until_ns);
    assert_false(dlock_fair_shares_hold_back(&shares, CHANNEL, until_ns));
}

TEST_WITH(set_up, tear_down, another_lock_is_not_held_back)
{
    open_a_turn();
    assert_false(
        dlock_fair_shares_hold_back(&shares, "redisson_lock__channel:{cold}", INT64_MAX));
}

static void *be_held_back(void *held)
{
    *(bool *)held = dlock_fair_shares_hold_back(&shares, CHANNEL, INT64_MAX);
    return NULL;
}

/* Pass messages of releases to the shares until one of them finds a delayed thread. */
TEST_WITH(set_up, tear_down, a_release_wakes_nobody_while_a_thread_is_held_back)
{
    pthread_t thread;
    bool held = false;
    bool was_enough = false;

    assert_false(dlock_fair_shares_heard(&shares, CHANNEL));
    while (!was_enough) {
        open_a_turn();
        assert_int_equal(0, pthread_create(&thread, NULL, be_held_back, &held));
        for (int i = 0; i < MANY && !was_enough; i++) {
            was_enough = dlock_fair_shares_heard(&shares, CHANNEL);
            open_a_turn();
            (void)sched_yield();
        }
        pthread_join(thread, NULL);
    }
    assert_true(held);
}

/* Another channel whose lock shares the slot of CHANNEL, found in a table of its own. */
static void find_neighbour(char *out, size_t size)
{
    static struct dlock_fair_shares probe;
    const struct dlock_fair_share *share = probe.slots;
    int before;

    dlock_fair_shares_init(&probe);
    dlock_fair_shares_released(&probe, CHANNEL, 1);
    while (share->balance == 0)
        share++;
    before = share->balance;
    for (int i = 0; share->balance == before; i++) {
        (void)snprintf(out, size, "redisson_lock__channel:{%d}", i);
        dlock_fair_shares_released(&probe, out, 1);
    }
    dlock_fair_shares_destroy(&probe);
}

/* A thread counts as held back between two messages that both find it. */
TEST_WITH(set_up, tear_down, a_release_of_another_lock_in_the_slot_wakes_a_waiter)
{
    char neighbour[64];
    pthread_t thread;
    bool held = false;
    bool was_held = false;
    bool was_enough = false;

    find_neighbour(neighbour, sizeof(neighbour));
    while (!was_held) {
        open_a_turn();
        assert_int_equal(0, pthread_create(&thread, NULL, be_held_back, &held));
        for (int i = 0; i < MANY && !was_held; i++) {
            bool was_before = dlock_fair_shares_heard(&shares, CHANNEL);
            bool is_enough = dlock_fair_shares_heard(&shares, neighbour);

            was_held = was_before && dlock_fair_shares_heard(&shares, CHANNEL);
            was_enough = was_enough || is_enough;
            open_a_turn();
            (void)sched_yield();
        }
        pthread_join(thread, NULL);
    }
    assert_true(held);
    assert_false(was_enough);
}
