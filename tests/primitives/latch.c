/* SPDX-License-Identifier: MIT */
/* latch.c -- the promises of a countdown latch, and its keys in Redis. */
#include "tests/primitives/rig.h"

#define CHANNEL "redisson_countdownlatch__channel__{l}"

enum { WAITERS = 6 };

static dlock_status wait_for_it(void *prims)
{
    return dlock_latch_wait(prims, "l", -1);
}

static int64_t left_of(dlock_primitives *prims)
{
    int64_t left = -77;

    assert_status(OK, dlock_latch_count(prims, "l", &left));
    return left;
}

static void a_latch_is_a_redisson_latch(void **state)
{
    dlock_primitives *prims = prim_open(TIMEOUT_MS);
    redisContext *listener = prim_listen(CHANNEL);
    int64_t left = -77;

    (void)state;
    assert_status(OK, dlock_latch_set(prims, "l", 2));
    prim_hear(listener, "1");
    assert_status(BUSY, dlock_latch_set(prims, "l", 7));
    assert_string_equal("2", servers_tell(0, "GET l")->str);
    assert_int_equal(-1, servers_ask(0, "PTTL l"));
    assert_status(OK, dlock_latch_count_down(prims, "l", &left));
    assert_int_equal(1, left);
    assert_int_equal(1, left_of(prims));
    assert_status(OK, dlock_latch_count_down(prims, "l", &left));
    assert_int_equal(0, left);
    prim_hear(listener, "0");
    assert_status(OK, dlock_latch_count_down(prims, "l", NULL)); /* publishes nothing */
    assert_int_equal(0, servers_ask(0, "DBSIZE"));
    assert_status(OK, dlock_latch_set(prims, "l", 1));
    prim_hear(listener, "1");
    assert_status(OK, dlock_latch_delete(prims, "l"));
    prim_hear(listener, "1");
    assert_status(LOST, dlock_latch_delete(prims, "l"));
    assert_int_equal(0, servers_ask(0, "DBSIZE"));
    prim_hang_up(listener);
    listener = prim_listen("redisson_countdownlatch__channel__{a{b}}");
    assert_status(OK, dlock_latch_set(prims, "a{b}", 1));
    prim_hear(listener, "1");
    prim_hang_up(listener);
}

static void the_last_count_opens_all_waiters(void **state)
{
    enum { AT_ONCE_MS = 60 };
    dlock_primitives *prims[2] = {prim_open(TIMEOUT_MS), prim_open(TIMEOUT_MS)};
    struct prim_call *calls[WAITERS];
    int64_t best_ms = INT64_MAX;

    (void)state;
    premise_watch_pace();
    for (int round = 0; round < HAND_OVERS; round++) {
        int64_t told_ms;

        assert_status(OK, dlock_latch_set(prims[0], "l", 2));
        for (int i = 0; i < WAITERS; i++)
            calls[i] = prim_begin(wait_for_it, prims[i % 2]);
        assert_comes(prim_listeners(CHANNEL) == 2);
        assert_status(OK, dlock_latch_count_down(prims[0], "l", NULL));
        for (int i = 0; i < WAITERS; i++)
            assert_stays(!prim_is_done(calls[i]), 10);
        told_ms = rig_now_ms();
        assert_status(OK, dlock_latch_count_down(prims[1], "l", NULL));
        for (int i = 0; i < WAITERS; i++)
            assert_status(OK, prim_end(calls[i]));
        if (rig_now_ms() - told_ms < best_ms)
            best_ms = rig_now_ms() - told_ms;
        assert_comes(prim_listeners(CHANNEL) == 0);
    }
    assert_provided(is_steady(AT_ONCE_MS), best_ms < AT_ONCE_MS);
}

static void an_open_latch_keeps_nobody(void **state)
{
    dlock_primitives *prims = prim_open(TIMEOUT_MS);

    (void)state;
    assert_status(OK, dlock_latch_wait(prims, "l", 0));
    assert_status(OK, dlock_latch_wait(prims, "l", -1));
    assert_int_equal(0, left_of(prims));
}

static void a_closed_latch_keeps_who_waits(void **state)
{
    dlock_primitives *prims = prim_open(TIMEOUT_MS);

    (void)state;
    assert_status(OK, dlock_latch_set(prims, "l", 1));
    assert_status(BUSY, dlock_latch_wait(prims, "l", 0));
    assert_status(TIMEOUT, dlock_latch_wait(prims, "l", 30));
    assert_int_equal(1, left_of(prims));
}

/* The waiters must not take the deletion for the end of the count. */
static void a_deleted_latch_opens_for_nobody(void **state)
{
    dlock_primitives *prims = prim_open(TIMEOUT_MS);
    struct prim_call *calls[WAITERS];

    (void)state;
    assert_status(OK, dlock_latch_set(prims, "l", 1));
    for (int i = 0; i < WAITERS; i++)
        calls[i] = prim_begin(wait_for_it, prims);
    assert_comes(prim_listeners(CHANNEL) == 1);
    for (int i = 0; i < WAITERS; i++)
        assert_stays(!prim_is_done(calls[i]), 20); /* each call subscribes */
    assert_status(OK, dlock_latch_delete(prims, "l"));
    for (int i = 0; i < WAITERS; i++)
        assert_status(LOST, prim_end(calls[i]));
}

static void a_missed_message_is_made_up_for(void **state)
{
    dlock_primitives *prims = prim_open(TIMEOUT_MS);
    struct prim_call *call;

    (void)state;
    assert_status(OK, dlock_latch_set(prims, "l", 1));
    call = prim_begin(wait_for_it, prims);
    assert_comes(prim_listeners(CHANNEL) == 1);
    servers_tell(0, "CLIENT KILL TYPE pubsub");
    assert_comes(prim_listeners(CHANNEL) == 1);
    servers_ask(0, "DEL l"); /* as if the latch was opened while no waiter listened */
    assert_status(OK, prim_end(call));
}

static void what_cannot_be_meant_is_refused_to_latches(void **state)
{
    dlock_primitives *prims = prim_open(TIMEOUT_MS);

    (void)state;
    assert_status(INVALID, dlock_latch_set(prims, "l", 0));
    assert_status(INVALID, dlock_latch_set(prims, "", 1));
    assert_status(INVALID, dlock_latch_count(prims, "l", NULL));
    assert_status(INVALID, dlock_latch_wait(NULL, "l", 0));
    assert_status(INVALID, dlock_latch_delete(prims, NULL));
    servers_tell(0, "SET l word");
    assert_status(PROTOCOL, dlock_latch_wait(prims, "l", -1));
    assert_status(PROTOCOL, dlock_latch_count_down(prims, "l", NULL));
}

const struct CMUnitTest prim_latch_tests[] = {
    PRIM_TEST(a_latch_is_a_redisson_latch),
    PRIM_TEST(the_last_count_opens_all_waiters),
    PRIM_TEST(an_open_latch_keeps_nobody),
    PRIM_TEST(a_closed_latch_keeps_who_waits),
    PRIM_TEST(a_deleted_latch_opens_for_nobody),
    PRIM_TEST(a_missed_message_is_made_up_for),
    PRIM_TEST(what_cannot_be_meant_is_refused_to_latches),
};
const size_t prim_latch_count = sizeof(prim_latch_tests) / sizeof(prim_latch_tests[0]);
