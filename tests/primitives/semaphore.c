/* SPDX-License-Identifier: MIT */
/* semaphore.c -- the promises of a semaphore, its limits, and its keys in Redis. */
#include <signal.h>
#include <string.h>

#include "tests/conformance/forked.h"
#include "tests/primitives/rig.h"

#define CHANNEL "redisson_sc:{s}"

enum { PERMITS = 3, THREADS = 8, TURNS = 60 };

static dlock_status count(dlock_primitives *prims, int64_t *out)
{
    return dlock_semaphore_available(prims, "s", out);
}

static int64_t available(dlock_primitives *prims)
{
    int64_t permits = -77;

    assert_status(OK, count(prims, &permits));
    return permits;
}

struct wish {
    dlock_primitives *prims;
    int permits;
    int64_t wait_ms;
};

static dlock_status acquire(void *arg)
{
    const struct wish *wish = arg;

    return dlock_semaphore_acquire(wish->prims, "s", wish->permits, wish->wait_ms);
}

static void a_semaphore_is_a_redisson_semaphore(void **state)
{
    dlock_primitives *prims = prim_open(TIMEOUT_MS);
    redisContext *listener = prim_listen(CHANNEL);
    int64_t drained = -1;

    (void)state;
    assert_status(OK, dlock_semaphore_set(prims, "s", 5));
    prim_hear(listener, "5");
    assert_status(OK, dlock_semaphore_acquire(prims, "s", 2, 0));
    assert_string_equal("3", servers_tell(0, "GET s")->str);
    assert_status(OK, dlock_semaphore_release(prims, "s", 1));
    prim_hear(listener, "4"); /* the number of free permits, not that of the released ones */
    assert_status(OK, dlock_semaphore_add(prims, "s", 6));
    prim_hear(listener, "10");
    assert_status(OK, dlock_semaphore_add(prims, "s", -11)); /* publishes nothing */
    assert_int_equal(-1, available(prims));
    assert_status(OK, dlock_semaphore_release(prims, "s", 3));
    prim_hear(listener, "2");
    assert_status(OK, dlock_semaphore_drain(prims, "s", &drained));
    assert_int_equal(2, drained);
    assert_string_equal("0", servers_tell(0, "GET s")->str);
    assert_int_equal(-1, servers_ask(0, "PTTL s"));
    assert_int_equal(1, servers_ask(0, "DBSIZE"));
    prim_hang_up(listener);
}

static void a_name_with_braces_keeps_them(void **state)
{
    dlock_primitives *prims = prim_open(TIMEOUT_MS);
    redisContext *listener = prim_listen("redisson_sc:a{b}");

    (void)state;
    assert_status(OK, dlock_semaphore_set(prims, "a{b}", 1));
    prim_hear(listener, "1");
    prim_hang_up(listener);
}

static void a_semaphore_is_set_once(void **state)
{
    dlock_primitives *prims = prim_open(TIMEOUT_MS);

    (void)state;
    assert_int_equal(0, available(prims));
    assert_status(BUSY, dlock_semaphore_acquire(prims, "s", 1, 0)); /* there are no permits */
    assert_status(OK, dlock_semaphore_set(prims, "s", PERMITS));
    assert_status(BUSY, dlock_semaphore_set(prims, "s", PERMITS + 1));
    assert_int_equal(PERMITS, available(prims));
    assert_status(BUSY, dlock_semaphore_acquire(prims, "s", PERMITS + 1, 0));
    assert_int_equal(PERMITS, available(prims)); /* a refused acquire takes none */
}

/* The form in Redis is Redisson's, with its documented flaw. */
static void a_release_makes_permits_out_of_nothing(void **state)
{
    dlock_primitives *prims = prim_open(TIMEOUT_MS);

    (void)state;
    assert_status(OK, dlock_semaphore_release(prims, "s", 2));
    assert_int_equal(2, available(prims));
}

static dlock_status take(dlock_primitives *prims, dlock_permit *out)
{
    (void)out;
    return dlock_semaphore_acquire(prims, "s", 1, -1);
}

static dlock_status give(dlock_primitives *prims, const dlock_permit *permit)
{
    (void)permit;
    return dlock_semaphore_release(prims, "s", 1);
}

static void threads_never_exceed_its_permits(void **state)
{
    dlock_primitives *prims[2] = {prim_open(TIMEOUT_MS), prim_open(TIMEOUT_MS)};
    struct prim_entry entry = {take, count, give, TURNS};

    (void)state;
    assert_status(OK, dlock_semaphore_set(prims[0], "s", PERMITS));
    assert_in_range(prim_most_inside(&entry, prims, THREADS), 1, PERMITS);
    assert_int_equal(PERMITS, available(prims[0]));
}

/* A waiter that needs more permits than are free must not keep the message from a waiter that needs
 * fewer. That waiter would also look by itself, but far later than in the fastest of several
 * turns. */
static void waiters_are_woken_by_what_is_enough_for_them(void **state)
{
    enum { AT_ONCE_MS = 40 };
    dlock_primitives *prims = prim_open(TIMEOUT_MS);
    struct wish two = {prim_open(TIMEOUT_MS), 2, -1};
    struct wish one = {two.prims, 1, -1};
    int64_t best_ms = INT64_MAX;

    (void)state;
    premise_watch_pace();
    for (int i = 0; i < HAND_OVERS; i++) {
        struct prim_call *waits_for_two = prim_begin(acquire, &two);
        struct prim_call *waits_for_one;
        int64_t told_ms;

        assert_comes(prim_listeners(CHANNEL) == 1);
        waits_for_one = prim_begin(acquire, &one);
        assert_stays(!prim_is_done(waits_for_one), 30);
        told_ms = rig_now_ms();
        assert_status(OK, dlock_semaphore_release(prims, "s", 1));
        assert_status(OK, prim_end(waits_for_one));
        assert_false(prim_is_done(waits_for_two));
        if (rig_now_ms() - told_ms < best_ms)
            best_ms = rig_now_ms() - told_ms;
        assert_status(OK, dlock_semaphore_release(prims, "s", 2));
        assert_status(OK, prim_end(waits_for_two));
        assert_comes(prim_listeners(CHANNEL) == 0);
    }
    assert_provided(is_steady(AT_ONCE_MS), best_ms < AT_ONCE_MS);
    assert_int_equal(0, available(prims));
}

static void one_release_wakes_as_many_as_it_is_for(void **state)
{
    dlock_primitives *prims = prim_open(TIMEOUT_MS);
    struct wish one = {prim_open(TIMEOUT_MS), 1, -1};
    struct prim_call *calls[THREADS];
    int done;

    (void)state;
    for (int i = 0; i < THREADS; i++)
        calls[i] = prim_begin(acquire, &one);
    assert_comes(prim_listeners(CHANNEL) == 1);
    assert_status(OK, dlock_semaphore_release(prims, "s", 5));
    do {
        done = 0;
        for (int i = 0; i < THREADS; i++)
            done += prim_is_done(calls[i]);
        rig_pause_ms(1);
    } while (done < 5);
    assert_int_equal(0, available(prims));
    assert_status(OK, dlock_semaphore_release(prims, "s", THREADS - 5));
    for (int i = 0; i < THREADS; i++)
        assert_status(OK, prim_end(calls[i]));
    assert_int_equal(0, available(prims));
}

static void waiting_has_an_end(void **state)
{
    dlock_primitives *prims = prim_open(TIMEOUT_MS);

    (void)state;
    assert_status(TIMEOUT, dlock_semaphore_acquire(prims, "s", 1, 30));
    assert_int_equal(0, servers_ask(0, "DBSIZE"));
}

/* A foreign program may take permits, or add some without a message. */
static void a_look_stands_behind_the_message(void **state)
{
    struct wish one = {prim_open(TIMEOUT_MS), 1, -1};
    struct prim_call *call = prim_begin(acquire, &one);

    (void)state;
    assert_comes(prim_listeners(CHANNEL) == 1);
    servers_ask(0, "INCR s"); /* without a message */
    assert_status(OK, prim_end(call));
}

static void waiters_survive_a_cut_subscription(void **state)
{
    dlock_primitives *prims = prim_open(TIMEOUT_MS);
    struct wish one = {prim_open(TIMEOUT_MS), 1, -1};
    struct prim_call *call = prim_begin(acquire, &one);

    (void)state;
    assert_comes(prim_listeners(CHANNEL) == 1);
    servers_tell(0, "CLIENT KILL TYPE pubsub");
    assert_comes(prim_listeners(CHANNEL) == 1);
    assert_status(OK, dlock_semaphore_release(prims, "s", 1));
    assert_status(OK, prim_end(call));
    assert_int_equal(0, available(prims));
}

static void calls_survive_cut_connections_and_lost_scripts(void **state)
{
    dlock_primitives *prims = prim_open(TIMEOUT_MS);

    (void)state;
    for (int i = 1; i <= 3; i++) {
        servers_tell(0, "CLIENT KILL TYPE normal SKIPME yes");
        servers_tell(0, "SCRIPT FLUSH");
        assert_status(OK, dlock_semaphore_release(prims, "s", 1));
        assert_int_equal(i, available(prims));
    }
}

/* The answer is lost, so it is unknown whether the permit was taken, and the library must not
 * guess. */
static void an_unanswered_acquire_leaks_no_more_than_it_wanted(void **state)
{
    dlock_primitives *other = prim_open(TIMEOUT_MS);
    dlock_primitives *prims;

    (void)state;
    premise_watch_pace();
    prims = prim_open(SHORT_TIMEOUT_MS);
    assert_status_provided(is_steady(SHORT_TIMEOUT_MS), OK,
                           dlock_semaphore_set(prims, "s", PERMITS));
    servers_signal(0, 1, SIGSTOP);
    assert_status(UNKNOWN, dlock_semaphore_acquire(prims, "s", 1, -1));
    assert_string_not_equal("", dlock_error());
    servers_signal(0, 1, SIGCONT);
    assert_comes(available(other) == PERMITS - 1);
    assert_stays(available(other) == PERMITS - 1, 50);
}

static void a_dead_store_is_an_io_failure(void **state)
{
    enum { WAIT_MS = 200 };
    dlock_primitives *prims = prim_open(TIMEOUT_MS);
    int64_t begun_ms;
    int64_t permits;

    (void)state;
    servers_signal(0, 1, SIGKILL);
    assert_status(IO, dlock_semaphore_available(prims, "s", &permits));
    assert_status(IO, dlock_semaphore_acquire(prims, "s", 1, 0));
    assert_string_not_equal("", dlock_error());
    begun_ms = rig_now_ms();
    assert_status(IO, dlock_semaphore_acquire(prims, "s", 1, WAIT_MS));
    assert_true(rig_now_ms() - begun_ms >= WAIT_MS);
    servers_restart(0);
    assert_comes(dlock_semaphore_set(prims, "s", 1) == DLOCK_OK);
    assert_status(OK, dlock_semaphore_acquire(prims, "s", 1, 0));
}

/* A question that had no answer has changed nothing. */
static void an_unanswered_question_is_an_io_failure(void **state)
{
    dlock_primitives *prims;
    int64_t number;

    (void)state;
    premise_watch_pace();
    prims = prim_open(SHORT_TIMEOUT_MS);
    assert_status_provided(is_steady(SHORT_TIMEOUT_MS), OK, dlock_latch_set(prims, "l", 1));
    servers_signal(0, 1, SIGSTOP);
    assert_status(IO, dlock_semaphore_available(prims, "s", &number));
    assert_status(IO, dlock_permits_available(prims, "p", &number));
    assert_status(IO, dlock_permits_acquired(prims, "p", &number));
    assert_status(IO, dlock_latch_count(prims, "l", &number));
    assert_status(IO, dlock_latch_wait(prims, "l", 0));
    assert_status(IO, dlock_latch_wait(prims, "l", SHORT_TIMEOUT_MS));
    assert_status(UNKNOWN, dlock_semaphore_drain(prims, "s", &number));
}

static void what_cannot_be_meant_is_refused(void **state)
{
    dlock_primitives *prims = prim_open(TIMEOUT_MS);
    dlock_primitives *none = prims;
    char name[DLOCK_NAME_MAX + 2];

    (void)state;
    memset(name, 'n', sizeof(name));
    name[sizeof(name) - 1] = '\0';
    assert_status(INVALID, dlock_semaphore_set(prims, "s", 0));
    assert_status(INVALID, dlock_semaphore_set(prims, "", 1));
    assert_status(INVALID, dlock_semaphore_set(prims, name, 1));
    assert_status(INVALID, dlock_semaphore_set(prims, "a\nb", 1));
    assert_status(INVALID, dlock_semaphore_set(NULL, "s", 1));
    assert_status(INVALID, dlock_semaphore_acquire(prims, "s", 0, 0));
    assert_status(INVALID, dlock_semaphore_acquire(prims, "s", -1, 0));
    assert_status(INVALID, dlock_semaphore_release(prims, "s", -1));
    assert_status(INVALID, dlock_semaphore_release(prims, "s", DLOCK_COUNT_MAX + 1));
    assert_status(INVALID, dlock_semaphore_available(prims, "s", NULL));
    assert_status(INVALID, dlock_primitives_open(&none, NULL, TIMEOUT_MS));
    assert_null(none);
    assert_status(INVALID, dlock_primitives_open(&none, "redis://x", 0));
    assert_status(INVALID, dlock_primitives_open(&none, "http://x", TIMEOUT_MS));
    assert_status(INVALID, dlock_primitives_open(NULL, "redis://x", TIMEOUT_MS));
    assert_int_equal(0, servers_ask(0, "DBSIZE"));
    servers_tell(0, "SET s word");
    assert_status(PROTOCOL, dlock_semaphore_release(prims, "s", 1));
    servers_tell(0, "DEL s");
    servers_ask(0, "LPUSH s word");
    assert_status(PROTOCOL, dlock_semaphore_acquire(prims, "s", 1, -1));
    dlock_primitives_close(NULL);
}

static int acquire_inherited(void *prims)
{
    dlock_status st = dlock_semaphore_acquire(prims, "s", 1, 0);

    dlock_primitives_close(prims);
    return st == DLOCK_INVALID ? 0 : 1;
}

static void a_forked_child_may_not(void **state)
{
    dlock_primitives *prims = prim_open(TIMEOUT_MS);

    (void)state;
    assert_status(OK, dlock_semaphore_set(prims, "s", 1));
    assert_int_equal(0, forked_answer(acquire_inherited, prims));
    assert_status(OK, dlock_semaphore_acquire(prims, "s", 1, 0));
}

const struct CMUnitTest prim_semaphore_tests[] = {
    PRIM_TEST(a_semaphore_is_a_redisson_semaphore),
    PRIM_TEST(a_name_with_braces_keeps_them),
    PRIM_TEST(a_semaphore_is_set_once),
    PRIM_TEST(a_release_makes_permits_out_of_nothing),
    PRIM_TEST(threads_never_exceed_its_permits),
    PRIM_TEST(waiters_are_woken_by_what_is_enough_for_them),
    PRIM_TEST(one_release_wakes_as_many_as_it_is_for),
    PRIM_TEST(waiting_has_an_end),
    PRIM_TEST(a_look_stands_behind_the_message),
    PRIM_TEST(waiters_survive_a_cut_subscription),
    PRIM_TEST(calls_survive_cut_connections_and_lost_scripts),
    PRIM_TEST(an_unanswered_acquire_leaks_no_more_than_it_wanted),
    PRIM_TEST(a_dead_store_is_an_io_failure),
    PRIM_TEST(an_unanswered_question_is_an_io_failure),
    PRIM_TEST(what_cannot_be_meant_is_refused),
    PRIM_TEST(a_forked_child_may_not),
};
const size_t prim_semaphore_count =
    sizeof(prim_semaphore_tests) / sizeof(prim_semaphore_tests[0]);
