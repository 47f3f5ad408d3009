/* SPDX-License-Identifier: MIT */
/* laws_wire.c -- the keys, fields and messages in the store that other programs see. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/os/clock.h"
#include "tests/conformance/laws.h"

enum { UUID_LEN = 36, LEASE_MS = 60000 };

/* Has the text the form "uuid<separator>number"? */
static bool is_owner(const char *text, char separator)
{
    size_t len = strlen(text);

    return len > UUID_LEN + 1 && text[UUID_LEN] == separator &&
           strspn(text, "0123456789abcdef-") == (separator == '-' ? len : UUID_LEN) &&
           strspn(text + UUID_LEN + 1, "0123456789") == len - UUID_LEN - 1;
}

static void check_value(const char *variant, size_t server, const char *name,
                        const dlock_lease *lease)
{
    const redisReply *reply;

    if (rig_caps(variant) & DLOCK_CAP_SHARED) {
        reply = servers_tell(server, "HGET %s %s:write", name, lease->owner);
        assert_string_equal("1", reply->str);
        return;
    }
    if (rig_caps(variant) & DLOCK_CAP_REENTRANT) {
        reply = servers_tell(server, "HGETALL %s", name);
        assert_int_equal(2, reply->elements);
        assert_string_equal(lease->owner, reply->element[0]->str);
        assert_string_equal("1", reply->element[1]->str);
        return;
    }
    reply = servers_tell(server, "GET %s", name);
    assert_int_equal(REDIS_REPLY_STRING, reply->type);
    if (rig_is(variant, "naive") || rig_is(variant, "setnx"))
        assert_string_equal(strchr(lease->owner, ':') + 1, reply->str);
    else if (rig_is(variant, "owner"))
        assert_true(is_owner(reply->str, '-'));
    else if (!rig_is(variant, "getset"))
        assert_string_equal(lease->token, reply->str);
}

void has_its_shape_in_the_store(const char *variant)
{
    dlock_options opts = rig_options(variant);
    const char *name = rig_name();
    dlock_system *sys;
    dlock_lease lease;
    size_t count;

    opts.lease_ms = LEASE_MS;
    sys = rig_open(&opts);
    count = servers_find(&opts);
    assert_status(OK, dlock_acquire(sys, name, 0, &lease));
    assert_true(is_owner(lease.owner, ':'));
    for (size_t i = 0; i < count; i++) {
        long long pttl = servers_ask(i, "PTTL %s", name);

        if (rig_is(variant, "getset")) /* its value is the time of its end */
            pttl = strtoll(servers_tell(i, "GET %s", name)->str, NULL, 10) -
                   dlock_clock_wall_ms();
        assert_true(pttl > LEASE_MS / 2 && pttl <= LEASE_MS);
        check_value(variant, i, name, &lease);
    }
    assert_status(OK, dlock_release(sys, &lease));
    assert_int_equal(0, servers_count_keys(name));
}

static void next_message(redisContext *listener, const char *kind, const char *channel,
                         const char *message)
{
    redisReply *reply = NULL;

    assert_int_equal(REDIS_OK, redisGetReply(listener, (void **)&reply));
    assert_int_equal(3, reply->elements);
    assert_string_equal(kind, reply->element[0]->str);
    assert_string_equal(channel, reply->element[1]->str);
    if (message != NULL)
        assert_string_equal(message, reply->element[2]->str);
    freeReplyObject(reply);
}

/* The message of the release of `name` arrives on `channel`. */
static void hear_release(dlock_system *sys, redisContext *listener, const char *name,
                         const char *channel)
{
    dlock_lease outer;
    dlock_lease inner;

    assert_int_equal(REDIS_OK, redisAppendCommand(listener, "SUBSCRIBE %s", channel));
    next_message(listener, "subscribe", channel, NULL);
    assert_status(OK, dlock_acquire(sys, name, 0, &outer));
    assert_status(OK, dlock_acquire(sys, name, 0, &inner));
    /* Only the release of the last level publishes a message. This release publishes none, so the
     * first message is that of the next release. */
    assert_status(OK, dlock_release(sys, &inner));
    assert_int_equal(1, servers_count_keys(name));
    assert_status(OK, dlock_release(sys, &outer));
    next_message(listener, "message", channel, "0");
    assert_int_equal(REDIS_OK, redisAppendCommand(listener, "UNSUBSCRIBE %s", channel));
    next_message(listener, "unsubscribe", channel, NULL);
}

static long long listeners(const char *channel)
{
    return servers_tell(0, "PUBSUB NUMSUB %s", channel)->element[1]->integer;
}

/* The release of a foreign program wakes a waiter. */
static void wait_for_foreigner(dlock_system *sys, const char *name, const char *channel,
                               const char *message)
{
    struct rig_helper *waiter;

    servers_ask(0, "HSET %s 8743c9c0-0795-4907-87fd-6c719a6b4586:52 1", name);
    servers_ask(0, "PEXPIRE %s 60000", name);
    assert_status(BUSY, rig_try(sys, name));
    waiter = rig_helper_start(sys, name, -1);
    assert_comes(listeners(channel) == 1);
    assert_false(rig_helper_is_done(waiter));
    /* In one script, as Redisson does: between two commands the waiter might look by itself. */
    assert_int_equal(1, servers_ask(0, "EVAL %s 2 %s %s %s",
                                    "redis.call('DEL', KEYS[1])"
                                    " return redis.call('PUBLISH', KEYS[2], ARGV[1])",
                                    name, channel, message));
    assert_status(OK, rig_helper_finish(waiter));
    /* The last waiter has gone, so no connection listens on the channel. */
    assert_comes(listeners(channel) == 0);
}

static void is_a_redisson_plain_lock(const char *variant)
{
    dlock_options opts = rig_options(variant);
    redisContext *listener;
    dlock_system *sys;

    servers_start(&opts);
    sys = rig_open(&opts);
    listener = redisConnectUnix(opts.redis_url + strlen("unix://"));
    assert_non_null(listener);
    hear_release(sys, listener, "plain", "redisson_lock__channel:{plain}");
    hear_release(sys, listener, "a{b}c", "redisson_lock__channel:a{b}c");
    hear_release(sys, listener, "a{", "redisson_lock__channel:a{");
    wait_for_foreigner(sys, "theirs", "redisson_lock__channel:{theirs}", "0");
    wait_for_foreigner(sys, "all", "redisson_lock__channel:{all}", "1");
    redisFree(listener);
}

#define THEIRS "8743c9c0-0795-4907-87fd-6c719a6b4586:52"

/* A waiter of this library in Redisson's queue, which a message on its own channel wakes; and a
 * waiter of Redisson. */
static void is_a_redisson_fair_lock(const char *variant)
{
    static const char theirs[] = "redisson_lock__channel:{n}:" THEIRS;
    dlock_options opts = rig_options(variant);
    struct rig_helper *waiter;
    redisContext *listener;
    dlock_system *sys;
    dlock_lease lease;
    char channel[160];

    servers_start(&opts);
    sys = rig_open(&opts);
    servers_ask(0, "HSET n %s 1", THEIRS);
    servers_ask(0, "PEXPIRE n 60000");
    waiter = rig_helper_start(sys, "n", -1);
    assert_comes(servers_ask(0, "LLEN redisson_lock_queue:{n}") == 1);
    snprintf(channel, sizeof(channel), "redisson_lock__channel:{n}:%s",
             servers_tell(0, "LINDEX redisson_lock_queue:{n} 0")->str);
    assert_int_equal(1, servers_ask(0, "ZCARD redisson_lock_timeout:{n}"));
    assert_comes(listeners(channel) == 1);
    servers_ask(0, "DEL n");
    servers_ask(0, "PUBLISH %s 0", channel);
    assert_status(OK, rig_helper_finish(waiter));
    assert_int_equal(0, servers_ask(0, "DBSIZE"));

    listener = redisConnectUnix(opts.redis_url + strlen("unix://"));
    assert_non_null(listener);
    assert_int_equal(REDIS_OK, redisAppendCommand(listener, "SUBSCRIBE %s", theirs));
    next_message(listener, "subscribe", theirs, NULL);
    assert_status(OK, dlock_acquire(sys, "n", 0, &lease));
    servers_ask(0, "RPUSH redisson_lock_queue:{n} %s", THEIRS);
    servers_ask(0, "ZADD redisson_lock_timeout:{n} 99999999999999 %s", THEIRS);
    assert_status(OK, dlock_release(sys, &lease));
    next_message(listener, "message", theirs, "0");
    assert_status(BUSY, rig_try(sys, "n")); /* it is the turn of Redisson's waiter */
    redisFree(listener);
}

void is_a_redisson_lock(const char *variant)
{
    if (rig_caps(variant) & DLOCK_CAP_FAIR) {
        is_a_redisson_fair_lock(variant);
        return;
    }
    is_a_redisson_plain_lock(variant);
}

/* The number of commands of a kind that the server has executed. */
static long long calls_of(const char *command)
{
    char field[40];
    const char *at;

    snprintf(field, sizeof(field), "cmdstat_%s:calls=", command);
    at = strstr(servers_tell(0, "INFO commandstats")->str, field);
    return at != NULL ? strtoll(at + strlen(field), NULL, 10) : 0;
}

/* The same name is the same lock for both variants. Only a variant that promises messages sends
 * them. */
void shares_with_reentrant(const char *variant)
{
    dlock_options opts = rig_options(variant);
    struct rig_helper *waiter;
    struct rig_pair pair;
    dlock_lease lease;
    int64_t begun_ms;
    long long asked;

    servers_start(&opts);
    pair.a = rig_open(&opts);
    opts.variant = "reentrant";
    pair.b = rig_open(&opts);
    assert_status(OK, dlock_acquire(pair.a, "shared", 0, &lease));
    assert_status(BUSY, rig_try(pair.b, "shared"));
    assert_status(OK, dlock_release(pair.a, &lease));
    /* `fair` publishes only to a waiter, and no thread waits. */
    assert_int_equal((rig_caps(variant) & (DLOCK_CAP_PUSH | DLOCK_CAP_FAIR)) ==
                         DLOCK_CAP_PUSH,
                     calls_of("publish"));
    assert_status(OK, dlock_acquire(pair.b, "shared", 0, &lease));
    assert_status(BUSY, rig_try(pair.a, "shared"));
    asked = calls_of("evalsha");
    begun_ms = rig_now_ms();
    waiter = rig_helper_start(pair.a, "shared", -1);
    assert_stays(!rig_helper_is_done(waiter), 1000);
    /* The pauses are 1, 2, 4 ... 128 ms: about 8 attempts until the longest pause, then one attempt
     * in 64 to 128 ms. */
    asked = calls_of("evalsha") - asked;
    assert_provided(lasts_until(begun_ms + 1100), asked >= 2 && asked <= 24);
    assert_status(OK, dlock_release(pair.b, &lease));
    assert_status(OK, rig_helper_finish(waiter));
}
