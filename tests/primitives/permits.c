/* SPDX-License-Identifier: MIT */
/* permits.c -- the promises of permits that expire, and their keys in Redis. */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "gen/lua_scripts.h"
#include "base/os/clock.h"
#include "lock/fault.h"
#include "tests/primitives/rig.h"

#define CHANNEL "redisson_sc:{p}"

enum { PERMITS = 2, THREADS = 6, TURNS = 40 };

static dlock_status count(dlock_primitives *prims, int64_t *out)
{
    return dlock_permits_available(prims, "p", out);
}

static int64_t available(dlock_primitives *prims)
{
    int64_t permits = -77;

    assert_status(OK, count(prims, &permits));
    return permits;
}

static int64_t acquired(dlock_primitives *prims)
{
    int64_t permits = -77;

    assert_status(OK, dlock_permits_acquired(prims, "p", &permits));
    return permits;
}

struct wish {
    dlock_primitives *prims;
    int64_t wait_ms;
    int lease_ms;
    dlock_permit permit;
};

static dlock_status acquire(void *arg)
{
    struct wish *wish = arg;

    return dlock_permits_acquire(wish->prims, "p", wish->wait_ms, wish->lease_ms,
                                 &wish->permit);
}

static void in_hex(const char *bytes, size_t len, char *out)
{
    for (size_t i = 0; i < len; i++)
        sprintf(out + 2 * i, "%02x", (unsigned char)bytes[i]);
}

static void permits_are_redisson_permits(void **state)
{
    dlock_primitives *prims = prim_open(TIMEOUT_MS);
    redisContext *listener = prim_listen(CHANNEL);
    char member[2 * DLOCK_TOKEN_LEN + 1] = "";
    const redisReply *taken;
    dlock_permit permit;
    int64_t now_ms, end_ms;

    (void)state;
    assert_status(OK, dlock_permits_set(prims, "p", PERMITS));
    prim_hear(listener, "2");
    assert_status(BUSY, dlock_permits_set(prims, "p", PERMITS));
    now_ms = dlock_clock_wall_ms();
    assert_status(OK, dlock_permits_acquire(prims, "p", 0, LONG_LEASE_MS, &permit));
    assert_string_equal("1", servers_tell(0, "GET p")->str);
    taken = servers_tell(0, "ZRANGE {p}:timeout 0 -1 WITHSCORES");
    assert_int_equal(2, taken->elements);
    assert_int_equal(DLOCK_TOKEN_LEN / 2, taken->element[0]->len);
    in_hex(taken->element[0]->str, taken->element[0]->len, member);
    assert_string_equal(permit.id, member);
    end_ms = strtoll(taken->element[1]->str, NULL, 10);
    assert_in_range(end_ms, now_ms + LONG_LEASE_MS,
                    dlock_clock_wall_ms() + LONG_LEASE_MS);
    assert_int_equal(-1, servers_ask(0, "PTTL {p}:timeout"));
    assert_int_equal(2, servers_ask(0, "DBSIZE"));
    assert_status(OK, dlock_permits_release(prims, "p", &permit));
    prim_hear(listener, "2");
    assert_int_equal(0, servers_ask(0, "EXISTS {p}:timeout"));
    prim_hang_up(listener);
}

/* A name may contain braces, and a semaphore may have an expiry. */
static void names_and_ends_are_carried_over(void **state)
{
    dlock_primitives *prims = prim_open(TIMEOUT_MS);
    dlock_permit permit;

    (void)state;
    assert_status(OK, dlock_permits_set(prims, "a{b}", PERMITS));
    servers_ask(0, "PEXPIRE a{b} %d", LONG_LEASE_MS);
    assert_status(OK, dlock_permits_acquire(prims, "a{b}", 0, 1000, &permit));
    assert_int_equal(1, servers_ask(0, "ZCARD a{b}:timeout"));
    assert_true(servers_ask(0, "PTTL a{b}:timeout") > LONG_LEASE_MS / 2);
}

static dlock_status take(dlock_primitives *prims, dlock_permit *out)
{
    return dlock_permits_acquire(prims, "p", -1, LONG_LEASE_MS, out);
}

static dlock_status give(dlock_primitives *prims, const dlock_permit *permit)
{
    return dlock_permits_release(prims, "p", permit);
}

static void holders_never_exceed_the_permits(void **state)
{
    dlock_primitives *prims[2] = {prim_open(TIMEOUT_MS), prim_open(TIMEOUT_MS)};
    struct prim_entry entry = {take, count, give, TURNS};

    (void)state;
    assert_status(OK, dlock_permits_set(prims[0], "p", PERMITS));
    assert_in_range(prim_most_inside(&entry, prims, THREADS), 1, PERMITS);
    assert_int_equal(PERMITS, available(prims[1]));
    assert_int_equal(0, acquired(prims[1]));
}

/* The same as rig_acquire_short() for a permit. */
static int64_t acquire_short(dlock_primitives *prims, int lease_ms, dlock_permit *out)
{
    int64_t asked_ms = rig_now_ms();
    dlock_status st = dlock_permits_acquire(prims, "p", 0, lease_ms, out);

    presume(rig_now_ms() - asked_ms < lease_ms / 2);
    assert_status(OK, st);
    return asked_ms + lease_ms - 5;
}

static void a_permit_ends_with_its_lease(void **state)
{
    dlock_primitives *prims = prim_open(TIMEOUT_MS);
    struct wish next = {.prims = prim_open(TIMEOUT_MS), .wait_ms = -1,
                        .lease_ms = LONG_LEASE_MS};
    dlock_permit permit;
    int64_t until_ms;

    (void)state;
    assert_status(OK, dlock_permits_set(prims, "p", 1));
    until_ms = acquire_short(prims, SHORT_LEASE_MS, &permit);
    assert_status_provided(lasts_until(until_ms), BUSY,
                           dlock_permits_acquire(prims, "p", 0, 1000, &next.permit));
    assert_status(OK, prim_end(prim_begin(acquire, &next)));
    assert_string_not_equal(permit.id, next.permit.id);
    /* The late release answers LOST, and frees no other permit. */
    assert_status(LOST, dlock_permits_release(prims, "p", &permit));
    assert_status(LOST, dlock_permits_renew(prims, "p", &permit, 1000));
    assert_int_equal(0, available(prims));
    assert_int_equal(1, acquired(prims));
    assert_status(OK, dlock_permits_release(prims, "p", &next.permit));
    assert_status(LOST, dlock_permits_release(prims, "p", &next.permit));
    assert_int_equal(1, available(prims));
}

/* No other call was made in between, so the late release itself is the first to notice the end. */
static void a_release_after_the_end_is_lost_and_counts_once(void **state)
{
    dlock_primitives *prims = prim_open(TIMEOUT_MS);
    dlock_permit permit;

    (void)state;
    assert_status(OK, dlock_permits_set(prims, "p", 1));
    acquire_short(prims, STRETCHED(DLOCK_LEASE_MIN_MS), &permit);
    rig_pause_ms(STRETCHED(DLOCK_LEASE_MIN_MS) + 5); /* until its end, by the clock */
    assert_status(LOST, dlock_permits_release(prims, "p", &permit));
    assert_string_equal("1", servers_tell(0, "GET p")->str);
    assert_int_equal(1, available(prims));
}

static void renewing_sets_the_end(void **state)
{
    dlock_primitives *prims = prim_open(TIMEOUT_MS);
    dlock_permit permit;
    int64_t until_ms;
    double end_ms;

    (void)state;
    assert_status(OK, dlock_permits_set(prims, "p", 1));
    until_ms = acquire_short(prims, SHORT_LEASE_MS, &permit);
    assert_status_provided(lasts_until(until_ms), OK,
                           dlock_permits_renew(prims, "p", &permit, LONG_LEASE_MS));
    assert_status(OK, dlock_permits_renew(prims, "p", &permit, LONG_LEASE_MS));
    end_ms = strtod(
        servers_tell(0, "ZRANGE {p}:timeout 0 -1 WITHSCORES")->element[1]->str, NULL);
    assert_true(end_ms <= (double)(dlock_clock_wall_ms() + LONG_LEASE_MS));
    assert_stays(available(prims) == 0, 2 * SHORT_LEASE_MS);
    assert_status(OK, dlock_permits_release(prims, "p", &permit));
}

static void a_waiter_is_woken_by_the_release(void **state)
{
    enum { AT_ONCE_MS = 40 };
    dlock_primitives *prims = prim_open(TIMEOUT_MS);
    int64_t best_ms = INT64_MAX;

    (void)state;
    premise_watch_pace();
    assert_status(OK, dlock_permits_set(prims, "p", 1));
    for (int i = 0; i < HAND_OVERS; i++) {
        struct wish wish = {.prims = prims, .wait_ms = -1, .lease_ms = LONG_LEASE_MS};
        struct prim_call *call;
        dlock_permit permit;
        int64_t told_ms;

        assert_status(OK, dlock_permits_acquire(prims, "p", 0, LONG_LEASE_MS, &permit));
        call = prim_begin(acquire, &wish);
        assert_comes(prim_listeners(CHANNEL) == 1);
        assert_stays(!prim_is_done(call), 30);
        told_ms = rig_now_ms();
        assert_status(OK, dlock_permits_release(prims, "p", &permit));
        assert_status(OK, prim_end(call));
        if (rig_now_ms() - told_ms < best_ms)
            best_ms = rig_now_ms() - told_ms;
        assert_status(OK, dlock_permits_release(prims, "p", &wish.permit));
        assert_comes(prim_listeners(CHANNEL) == 0);
    }
    assert_provided(is_steady(AT_ONCE_MS), best_ms < AT_ONCE_MS);
}

/* A Java program takes a permit without a lease. */
static void a_permit_without_an_end_stays_taken(void **state)
{
    dlock_primitives *prims = prim_open(TIMEOUT_MS);
    dlock_permit permit = {.id = "30303030303030303030303030303031"};
    dlock_permit other;

    (void)state;
    assert_status(OK, dlock_permits_set(prims, "p", 1));
    servers_ask(0, "DECR p");
    servers_ask(0, "ZADD {p}:timeout 922337203685477 0000000000000001");
    assert_status(BUSY, dlock_permits_acquire(prims, "p", 0, 1000, &other));
    assert_status(TIMEOUT, dlock_permits_acquire(prims, "p", 20, 1000, &other));
    assert_int_equal(1, acquired(prims));
    assert_status(OK, dlock_permits_release(prims, "p", &permit));
    assert_int_equal(1, available(prims));
}

/* Let `count` permits be taken whose leases have ended long ago. */
static void take_and_end(int count)
{
    servers_tell(0, "EVAL %s 2 p {p}:timeout %d",
                 "for i = 1, tonumber(ARGV[1]) do redis.call('ZADD', KEYS[2], i, "
                 "string.format('%016d', i)) end redis.call('DECRBY', KEYS[1], ARGV[1])",
                 count);
}

/* More permits than a script gives back at once have ended. */
static void ended_permits_count_as_free_however_many(void **state)
{
    enum { MANY = 2500 };
    dlock_primitives *prims = prim_open(TIMEOUT_MS);
    dlock_permit permit;

    (void)state;
    assert_status(OK, dlock_permits_set(prims, "p", MANY));
    take_and_end(MANY);
    assert_int_equal(0, acquired(prims));
    assert_int_equal(MANY, available(prims));
    assert_int_equal(0, acquired(prims));
    assert_status(OK, dlock_permits_acquire(prims, "p", 0, LONG_LEASE_MS, &permit));
    assert_int_equal(1, acquired(prims));
    assert_int_equal(MANY - 1, available(prims));
}

/* Permits were taken away, so the first of those that are given back make up for them. */
static void an_acquire_sees_all_ended_permits(void **state)
{
    enum { MANY = 2500 };
    dlock_primitives *prims = prim_open(TIMEOUT_MS);
    dlock_permit permits[2];

    (void)state;
    assert_status(OK, dlock_permits_set(prims, "p", MANY));
    take_and_end(MANY);
    servers_ask(0, "DECRBY p %d", MANY - 2);
    assert_int_equal(2, available(prims));
    assert_status(OK, dlock_permits_acquire(prims, "p", 0, LONG_LEASE_MS, &permits[0]));
    assert_status(OK, dlock_permits_acquire(prims, "p", 0, LONG_LEASE_MS, &permits[1]));
    assert_status(BUSY, dlock_permits_acquire(prims, "p", 0, LONG_LEASE_MS, &permits[0]));
    assert_int_equal(2, acquired(prims));
    assert_int_equal(0, available(prims));
}

static void counting_permits_changes_nothing(void **state)
{
    dlock_primitives *prims = prim_open(TIMEOUT_MS);

    (void)state;
    assert_int_equal(0, available(prims));
    assert_int_equal(0, acquired(prims));
    assert_status(OK, dlock_permits_set(prims, "p", 3));
    take_and_end(2);
    assert_int_equal(3, available(prims));
    assert_int_equal(0, acquired(prims));
    assert_int_equal(2, servers_ask(0, "ZCARD {p}:timeout"));
    assert_string_equal("1", servers_tell(0, "GET p")->str);
}

static void a_request_that_comes_twice_counts_once(void **state)
{
    static const char id[] = "000102030405060708090a0b0c0d0eff";
    dlock_primitives *prims = prim_open(TIMEOUT_MS);
    dlock_permit permit;

    (void)state;
    memcpy(permit.id, id, sizeof(id));
    assert_status(OK, dlock_permits_set(prims, "p", PERMITS));
    for (int i = 0; i < 3; i++)
        assert_int_equal(REDIS_REPLY_NIL,
                         servers_tell(0, "EVAL %s 3 p {p}:timeout %s %s %lld 60000",
                                      LUA_PERMITS_ACQUIRE, CHANNEL, id,
                                      (long long)dlock_clock_wall_ms())
                             ->type);
    assert_int_equal(1, acquired(prims));
    assert_int_equal(PERMITS - 1, available(prims));
    assert_status(OK, dlock_permits_release(prims, "p", &permit));
    assert_int_equal(PERMITS, available(prims));
}

/* The acquire and its clean-up were both sent to a stopped server. */
static void an_unanswered_acquire_leaves_nothing(void **state)
{
    dlock_primitives *other = prim_open(TIMEOUT_MS);
    dlock_permit permit = {.id = "untouched"};
    dlock_primitives *prims;

    (void)state;
    premise_watch_pace();
    prims = prim_open(SHORT_TIMEOUT_MS);
    assert_status_provided(is_steady(SHORT_TIMEOUT_MS), OK,
                           dlock_permits_set(prims, "p", PERMITS));
    servers_signal(0, 1, SIGSTOP);
    assert_status(UNKNOWN,
                  dlock_permits_acquire(prims, "p", 0, LONG_LEASE_MS, &permit));
    assert_string_not_equal("", dlock_error());
    assert_string_equal("untouched", permit.id);
    servers_signal(0, 1, SIGCONT);
    assert_comes(available(other) == PERMITS);
    assert_stays(available(other) == PERMITS, 50);
    assert_int_equal(0, acquired(other));
}

static bool is_one_held(void)
{
    dlock_fault_state seen = {0};

    dlock_fault_look(DLOCK_FAULT_BEFORE_REQUEST, &seen);
    return seen.holding;
}

/* The answer of the first attempt is hidden, and `action` meets the release after it. */
static struct prim_call *begin_with_a_hidden_answer(struct wish *wish, dlock_fault_action action)
{
    struct prim_call *call;

    dlock_fault_allow();
    assert_true(dlock_fault_arm(DLOCK_FAULT_BEFORE_REQUEST, DLOCK_FAULT_HOLD, "p"));
    call = prim_begin(acquire, wish);
    assert_comes(is_one_held());
    servers_signal(0, 1, SIGSTOP);
    assert_true(dlock_fault_arm(DLOCK_FAULT_AFTER_REPLY, DLOCK_FAULT_FAIL, "p"));
    assert_true(dlock_fault_release(DLOCK_FAULT_BEFORE_REQUEST));
    assert_comes(dlock_fault_arm(DLOCK_FAULT_BEFORE_REQUEST, action, "p"));
    servers_signal(0, 1, SIGCONT);
    return call;
}

/* As an acquire of a lock does, a wait sends a release that failed again before it asks again. */
static void a_wait_gives_back_what_an_earlier_attempt_took(void **state)
{
    dlock_primitives *prims = prim_open(TIMEOUT_MS);
    struct wish wish = {.prims = prims, .wait_ms = TIMEOUT_MS, .lease_ms = LONG_LEASE_MS};
    struct prim_call *call;

    (void)state;
    assert_status(OK, dlock_permits_set(prims, "p", 1));
    call = begin_with_a_hidden_answer(&wish, DLOCK_FAULT_FAIL);
    assert_status(OK, prim_end(call));
    assert_int_equal(1, acquired(prims));
    assert_status(OK, dlock_permits_release(prims, "p", &wish.permit));
    assert_int_equal(1, available(prims));
}

/* The last attempts could not be sent, and the first may have taken a permit. */
static void an_attempt_without_an_answer_makes_the_wait_unknown(void **state)
{
    dlock_primitives *prims = prim_open(TIMEOUT_MS);
    struct wish wish = {.prims = prims, .wait_ms = 1000, .lease_ms = LONG_LEASE_MS};
    struct prim_call *call;

    (void)state;
    assert_status(OK, dlock_permits_set(prims, "p", 1));
    call = begin_with_a_hidden_answer(&wish, DLOCK_FAULT_HOLD);
    assert_comes(is_one_held());
    servers_signal(0, 1, SIGKILL);
    assert_true(dlock_fault_release(DLOCK_FAULT_BEFORE_REQUEST));
    assert_status(UNKNOWN, prim_end(call));
}

struct renewal {
    dlock_primitives *prims;
    dlock_permit permit;
    int lease_ms;
};

static dlock_status renew(void *arg)
{
    struct renewal *renewal = arg;

    return dlock_permits_renew(renewal->prims, "p", &renewal->permit,
                               renewal->lease_ms);
}

/* The server was stopped for longer than the new lease, which counts from the request. By now
 * another owner may have the permit. */
static void a_renewal_that_took_longer_than_its_lease_is_lost(void **state)
{
    enum { BRIEF_MS = 50 };
    dlock_primitives *prims = prim_open(TIMEOUT_MS);
    struct renewal renewal = {.prims = prims, .lease_ms = BRIEF_MS};
    struct prim_call *call;

    (void)state;
    assert_status(OK, dlock_permits_set(prims, "p", 1));
    assert_status(OK,
                  dlock_permits_acquire(prims, "p", 0, LONG_LEASE_MS, &renewal.permit));
    servers_signal(0, 1, SIGSTOP);
    call = prim_begin(renew, &renewal);
    rig_pause_ms(4 * BRIEF_MS); /* until its end, by the clock */
    servers_signal(0, 1, SIGCONT);
    assert_status(LOST, prim_end(call));
    renewal.lease_ms = LONG_LEASE_MS;
    assert_status(LOST, renew(&renewal));
}

static void what_cannot_be_meant_is_refused_to_permits(void **state)
{
    dlock_primitives *prims = prim_open(TIMEOUT_MS);
    dlock_permit permit = {.id = "xyz"};

    (void)state;
    assert_status(INVALID, dlock_permits_set(prims, "p", -1));
    assert_status(INVALID, dlock_permits_acquire(prims, "p", 0, 0, &permit));
    assert_status(INVALID, dlock_permits_acquire(prims, "p", 0, 1000, NULL));
    assert_status(INVALID, dlock_permits_release(prims, "p", &permit));
    assert_status(INVALID, dlock_permits_release(prims, "p", NULL));
    assert_status(INVALID, dlock_permits_renew(prims, "p", &permit, 1000));
    memset(permit.id, 'a', sizeof(permit.id)); /* an id without an end */
    assert_status(INVALID, dlock_permits_release(prims, "p", &permit));
    permit.id[DLOCK_TOKEN_LEN] = '\0';
    assert_status(LOST, dlock_permits_release(prims, "p", &permit));
    assert_status(INVALID, dlock_permits_renew(prims, "p", &permit, 0));
    assert_status(INVALID, dlock_permits_acquired(prims, "p", NULL));
    assert_int_equal(0, servers_ask(0, "DBSIZE"));
}

const struct CMUnitTest prim_permits_tests[] = {
    PRIM_TEST(permits_are_redisson_permits),
    PRIM_TEST(names_and_ends_are_carried_over),
    PRIM_TEST(holders_never_exceed_the_permits),
    PRIM_TEST(a_permit_ends_with_its_lease),
    PRIM_TEST(a_release_after_the_end_is_lost_and_counts_once),
    PRIM_TEST(renewing_sets_the_end),
    PRIM_TEST(a_waiter_is_woken_by_the_release),
    PRIM_TEST(a_permit_without_an_end_stays_taken),
    PRIM_TEST(ended_permits_count_as_free_however_many),
    PRIM_TEST(an_acquire_sees_all_ended_permits),
    PRIM_TEST(counting_permits_changes_nothing),
    PRIM_TEST(a_request_that_comes_twice_counts_once),
    PRIM_TEST(an_unanswered_acquire_leaves_nothing),
    PRIM_TEST(a_wait_gives_back_what_an_earlier_attempt_took),
    PRIM_TEST(an_attempt_without_an_answer_makes_the_wait_unknown),
    PRIM_TEST(a_renewal_that_took_longer_than_its_lease_is_lost),
    PRIM_TEST(what_cannot_be_meant_is_refused_to_permits),
};
const size_t prim_permits_count =
    sizeof(prim_permits_tests) / sizeof(prim_permits_tests[0]);
