/* SPDX-License-Identifier: MIT */
/* laws_redisson_fair.c -- the queue of Redisson's fair lock, read in Redis. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "gen/lua_scripts.h"
#include "lock/fault.h"
#include "tests/conformance/laws.h"

enum { WAITERS = 6, LONG_QUEUE = 300, WAIT_MS = 100, THEIRS_MS = 300000 };

#define DEAD_MS STRETCHED(1200)

static long long waiters_of(const char *name)
{
    return servers_ask(0, "LLEN redisson_lock_queue:{%s}", name);
}

void serves_in_order_of_arrival(const char *variant)
{
    dlock_options opts = rig_options(variant);
    struct rig_pair pair = rig_open_pair(&opts);
    const char *name = rig_name();
    struct rig_helper *waiters[WAITERS];
    dlock_lease lease;

    servers_find(&opts);
    assert_status(OK, dlock_acquire(pair.a, name, 0, &lease));
    for (int i = 0; i < WAITERS; i++) {
        waiters[i] = rig_helper_start(i % 2 == 0 ? pair.a : pair.b, name, -1);
        assert_comes(waiters_of(name) == i + 1);
    }
    assert_status(OK, dlock_release(pair.a, &lease));
    for (int i = 0; i < WAITERS; i++) {
        assert_status(OK, rig_helper_acquired(waiters[i]));
        assert_int_equal(WAITERS - 1 - i, waiters_of(name));
        for (int behind = i + 1; behind < WAITERS; behind++)
            assert_false(rig_helper_is_done(waiters[behind]));
        assert_status(BUSY, rig_try(pair.a, name)); /* no caller passes the queue */
        assert_status(OK, rig_helper_finish(waiters[i]));
    }
    assert_status(OK, rig_try(pair.b, name));
}

/* The number of scripts that the server has run. */
static long long script_calls(void)
{
    static const char field[] = "cmdstat_evalsha:calls=";
    const char *at = strstr(servers_tell(0, "INFO commandstats")->str, field);

    return at != NULL ? strtoll(at + strlen(field), NULL, 10) : 0;
}

/* The first in the queue is a dead waiter of Redisson, for which the store waits for minutes. The
 * waiters behind it must not ask as fast as they can until then. */
void passes_a_dead_waiter(const char *variant)
{
    static const char dead[] = "00000000-0000-4000-8000-000000000000:1";
    dlock_options opts = rig_options(variant);
    long long until_ms;
    struct rig_helper *waiter;
    dlock_system *sys;
    dlock_lease lease;
    int64_t begun_ms;

    servers_start(&opts);
    sys = rig_open(&opts);
    assert_status(OK, dlock_acquire(sys, "n", 0, &lease));
    begun_ms = rig_now_ms();
    until_ms = strtoll(servers_tell(0, "TIME")->element[0]->str, NULL, 10) * 1000;
    servers_ask(0, "RPUSH redisson_lock_queue:{n} %s", dead);
    servers_ask(0, "ZADD redisson_lock_timeout:{n} %lld %s", until_ms + 1000 + DEAD_MS,
                dead);
    waiter = rig_helper_start(sys, "n", -1);
    assert_comes(waiters_of("n") == 2);
    assert_status(OK, dlock_release(sys, &lease));
    until_ms = script_calls();
    assert_stays_provided(lasts_until(begun_ms + DEAD_MS), !rig_helper_is_done(waiter),
                          WAIT_MS); /* it is not the waiter's turn yet */
    assert_status(OK, rig_helper_acquired(waiter));
    assert_true(script_calls() - until_ms < 30);
    assert_status(OK, rig_helper_finish(waiter));
    assert_int_equal(0, servers_ask(0, "DBSIZE"));
}

/* The first in the queue is a dead waiter of Redisson, whose turn lasts for some minutes more. */
void names_a_dead_waiter(const char *variant)
{
    static const char dead[] = "00000000-0000-4000-8000-000000000000:1";
    dlock_options opts = rig_options(variant);
    long long now_ms;
    dlock_lease lease;
    dlock_info info;
    dlock_system *sys;

    servers_start(&opts);
    sys = rig_open(&opts);
    now_ms = strtoll(servers_tell(0, "TIME")->element[0]->str, NULL, 10) * 1000;
    servers_ask(0, "RPUSH redisson_lock_queue:{n} %s", dead);
    servers_ask(0, "ZADD redisson_lock_timeout:{n} %lld %s", now_ms + THEIRS_MS, dead);
    assert_status(TIMEOUT, dlock_acquire(sys, "n", WAIT_MS, &lease));
    assert_non_null(strstr(dlock_error(), dead));
    assert_status(OK, dlock_inspect(sys, "n", &info));
    assert_false(info.locked);
    assert_string_equal(dead, info.next_owner);
    assert_true(info.next_is_gone);
    assert_true(info.next_left_ms > THEIRS_MS / 2 && info.next_left_ms <= THEIRS_MS);
    assert_status(OK, dlock_force_release(sys, "n"));
    assert_status(LOST, dlock_force_release(sys, "n"));
    assert_status(OK, rig_try(sys, "n"));
}

/* The owner of the next turn may take the lock at once, and die with a short lease. No message then
 * tells of its end, so a waiter that came before it must not sleep until the end of the
 * turn. */
void is_told_a_turn_for_a_moment(const char *variant)
{
    static const char next[] = "00000000-0000-4000-8000-000000000000:1";
    dlock_options opts = rig_options(variant);
    long long now_ms, told_ms;

    servers_start(&opts);
    now_ms = strtoll(servers_tell(0, "TIME")->element[0]->str, NULL, 10) * 1000;
    servers_ask(0, "RPUSH redisson_lock_queue:{n} %s", next);
    servers_ask(0, "ZADD redisson_lock_timeout:{n} %lld %s", now_ms + THEIRS_MS, next);
    told_ms = servers_ask(0,
                          "EVAL %s 3 n redisson_lock_queue:{n} redisson_lock_timeout:{n} 1000 "
                          "00000000-0000-8000-8000-000000000000:1 1 1000",
                          LUA_FAIR_ACQUIRE);
    assert_true(told_ms > 0 && told_ms < 1000);
}

/* A waiter that is alive listens on its channel. */
void names_a_living_waiter(const char *variant)
{
    dlock_options opts = rig_options(variant);
    struct rig_helper *waiter;
    dlock_system *sys;
    dlock_lease lease;
    dlock_info info;

    servers_start(&opts);
    sys = rig_open(&opts);
    assert_status(OK, dlock_acquire(sys, "n", 0, &lease));
    waiter = rig_helper_start(sys, "n", -1);
    assert_comes(dlock_inspect(sys, "n", &info) == DLOCK_OK &&
                 info.next_owner[0] != '\0' && !info.next_is_gone);
    assert_true(info.locked);
    assert_string_equal(lease.owner, info.owner);
    assert_status(OK, dlock_release(sys, &lease));
    assert_status(OK, rig_helper_acquired(waiter));
    assert_status(OK, dlock_inspect(sys, "n", &info));
    assert_string_equal("", info.next_owner);
    assert_status(OK, rig_helper_finish(waiter));
}

void leaves_the_queue(const char *variant)
{
    dlock_options opts = rig_options(variant);
    struct rig_helper *waiter;
    dlock_system *sys;
    dlock_lease lease;
    dlock_lease none;
    bool is_queued;

    servers_start(&opts);
    sys = rig_open(&opts);
    assert_status(OK, dlock_acquire(sys, "n", 0, &lease));
    assert_status(BUSY, rig_try_elsewhere(sys, "n"));
    assert_int_equal(0, waiters_of("n")); /* an attempt without a wait takes no place */
    waiter = rig_helper_start(sys, "n", STRETCHED(WAIT_MS));
    assert_comes((is_queued = waiters_of("n") == 1) || rig_helper_is_done(waiter));
    presume(is_queued); /* otherwise it gave up before it was seen in the queue */
    assert_status(TIMEOUT, rig_helper_acquired(waiter));
    assert_int_equal(0, waiters_of("n"));
    rig_helper_finish(waiter);
    assert_status(OK, dlock_release(sys, &lease));
    assert_int_equal(0, servers_ask(0, "DBSIZE"));
    assert_status(OK, dlock_acquire(sys, "n", -1, &none));
    assert_status(OK, dlock_release(sys, &none));
}

/* A waiter whose last command was not answered must delay no other waiter. */
void a_failed_waiter_leaves_the_queue(const char *variant)
{
    dlock_options opts = rig_options(variant);
    struct rig_helper *waiter;
    dlock_system *sys;
    dlock_lease lease;

    opts.retry = "fixed:1ms,x1"; /* the waiter takes a place although it tries only once */
    servers_start(&opts);
    sys = rig_open(&opts);
    assert_status(OK, dlock_acquire(sys, "n", 0, &lease));
    assert_true(dlock_fault_arm(DLOCK_FAULT_AFTER_REPLY, DLOCK_FAULT_FAIL, "n"));
    waiter = rig_helper_start(sys, "n", -1);
    assert_status(UNKNOWN, rig_helper_acquired(waiter));
    assert_int_equal(0, waiters_of("n"));
    assert_int_equal(0, servers_ask(0, "EXISTS redisson_lock_timeout:{n}"));
    rig_helper_finish(waiter);
    assert_status(OK, dlock_release(sys, &lease));
    assert_status(OK, rig_try(sys, "n"));
}

static const char theirs[] = "8743c9c0-0795-4907-87fd-6c719a6b4586:52";

/* A waiter of Redisson, believed until `fraction` of a millisecond after some minutes, takes the
 * lock. The waiters behind it are set back by these minutes. */
static void keep_place_behind(const char *variant, const char *fraction)
{
    dlock_options opts = rig_options(variant);
    struct rig_helper *waiter;
    const redisReply *behind;
    dlock_system *sys;
    dlock_lease lease;
    long long now_ms;

    servers_start(&opts);
    sys = rig_open(&opts);
    assert_status(OK, dlock_acquire(sys, "n", 0, &lease));
    now_ms = strtoll(servers_tell(0, "TIME")->element[0]->str, NULL, 10) * 1000;
    servers_ask(0, "RPUSH redisson_lock_queue:{n} %s", theirs);
    servers_ask(0, "ZADD redisson_lock_timeout:{n} %lld%s %s", now_ms + THEIRS_MS + 9000,
                fraction, theirs);
    waiter = rig_helper_start(sys, "n", -1);
    assert_comes(waiters_of("n") == 2);
    /* In one script: between two commands the waiter of this library might ask again. */
    behind = servers_tell(0, "EVAL %s 2 redisson_lock_queue:{n} redisson_lock_timeout:{n}"
                             " %s",
                          "redis.call('LREM', KEYS[1], 0, ARGV[1])"
                          " redis.call('ZREM', KEYS[2], ARGV[1])"
                          " return redis.call('ZRANGE', KEYS[2], 0, -1, 'WITHSCORES')",
                          theirs);
    assert_int_equal(2, behind->elements);
    assert_true(strtoll(behind->element[1]->str, NULL, 10) - THEIRS_MS > now_ms);
    /* No waiter of Redisson is before the waiter any more, so its next attempt asks for a shorter
     * time. */
    assert_comes(servers_ask(0, "ZCOUNT redisson_lock_timeout:{n} %lld +inf",
                             now_ms + THEIRS_MS) == 0);
    assert_int_equal(1, waiters_of("n"));
    assert_status(OK, dlock_release(sys, &lease));
    assert_status(OK, rig_helper_finish(waiter));
}

void keeps_its_place_behind_redisson(const char *variant)
{
    keep_place_behind(variant, "");
}

/* Redisson computes a waiter's score from the score of the waiter before it, so a score may have
 * any fraction. This fraction is the mark by which an earlier fair_acquire.lua told its own waiter
 * `theirs` from a waiter of Redisson. */
void knows_redisson_whatever_its_score(const char *variant)
{
    keep_place_behind(variant, ".3447265625");
}

/* The ms for which the server still believes the last waiter of the lock "n", by the server's
 * clock. */
static long long last_is_believed_ms(void)
{
    return servers_ask(0,
                       "EVAL %s 2 redisson_lock_queue:{n} redisson_lock_timeout:{n}",
                       "local last = redis.call('LINDEX', KEYS[1], -1)"
                       " local time = redis.call('TIME')"
                       " return redis.call('ZSCORE', KEYS[2], last) - time[1] * 1000"
                       " - math.floor(time[2] / 1000)");
}

/* The server's clock is set back. Then a second waiter comes behind a first waiter of this library,
 * whose score is now further ahead than any waiter of this library sets it. If the script took the
 * first for a waiter of Redisson, it would believe the second for minutes; and if the second died,
 * nobody would get the lock for as long. */
void takes_its_own_for_no_redisson(const char *variant)
{
    static const int64_t STEPS_MS[] = {2, 2, 500, 3600000}; /* each step goes further back */
    dlock_options opts = rig_options(variant);
    struct rig_pair pair;
    dlock_lease lease;
    int64_t ahead_ms = 0;

    servers_start_with_clock(&opts);
    pair = rig_open_pair(&opts);
    for (size_t i = 0; i < sizeof(STEPS_MS) / sizeof(STEPS_MS[0]); i++) {
        struct rig_helper *first;
        struct rig_helper *second;

        assert_status(OK, dlock_acquire(pair.a, "n", 0, &lease));
        first = rig_helper_start(pair.a, "n", -1);
        assert_comes(waiters_of("n") == 1);
        ahead_ms -= STEPS_MS[i];
        servers_set_clock(ahead_ms);
        second = rig_helper_start(pair.b, "n", -1);
        assert_comes(waiters_of("n") == 2);
        assert_true(last_is_believed_ms() < THEIRS_MS);
        assert_status(OK, dlock_release(pair.a, &lease));
        assert_status(OK, rig_helper_finish(first));
        assert_status(OK, rig_helper_finish(second));
    }
    assert_int_equal(0, servers_ask(0, "DBSIZE"));
}

/* The number of commands that the server has executed, those of scripts included. */
static long long commands_executed(void)
{
    static const char field[] = ":calls=";
    const char *at = servers_tell(0, "INFO commandstats")->str;
    long long sum = 0;

    while ((at = strstr(at, field)) != NULL) {
        at += strlen(field);
        sum += strtoll(at, NULL, 10);
    }
    return sum;
}

/* A hand-over waits until the server has served the attempts that came before it, and every waiter
 * makes some. If each attempt read every place before its own, a hand-over would take as many steps
 * as there are waiters. The first waiter is one of Redisson, for which an attempt has to look at
 * the places before its own. */
void asks_no_more_of_a_long_queue(const char *variant)
{
    static const char first[] = "8743c9c0-0795-4907-87fd-6c719a6b4586:52";
    dlock_options opts = rig_options(variant);
    struct rig_helper *waiter;
    dlock_system *sys;
    dlock_lease lease;
    long long before;
    long long now_ms;

    servers_start(&opts);
    sys = rig_open(&opts);
    assert_status(OK, dlock_acquire(sys, "n", 0, &lease));
    now_ms = strtoll(servers_tell(0, "TIME")->element[0]->str, NULL, 10) * 1000;
    for (int i = 0; i < LONG_QUEUE; i++) {
        long long at_ms = i == 0 ? now_ms + THEIRS_MS : now_ms;

        servers_ask(0, "RPUSH redisson_lock_queue:{n} %s%d", first, i);
        servers_ask(0, "ZADD redisson_lock_timeout:{n} %lld %s%d", at_ms, first, i);
    }
    before = commands_executed();
    waiter = rig_helper_start(sys, "n", WAIT_MS);
    assert_status(TIMEOUT, rig_helper_acquired(waiter));
    rig_helper_finish(waiter);
    assert_true(commands_executed() - before < LONG_QUEUE);
    assert_int_equal(LONG_QUEUE, waiters_of("n"));
    assert_status(OK, dlock_release(sys, &lease));
}
