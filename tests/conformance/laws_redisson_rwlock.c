/* SPDX-License-Identifier: MIT */
/* laws_redisson_rwlock.c -- the keys and messages of Redisson's read/write lock. */
#include <stdio.h>
#include <string.h>

#include "tests/conformance/laws.h"

enum { LONG_LEASE_MS = 60000 };

static const dlock_request READ = {.shared = true};

static redisReply *next_reply(redisContext *listener)
{
    redisReply *reply = NULL;

    assert_int_equal(REDIS_OK, redisGetReply(listener, (void **)&reply));
    assert_int_equal(3, reply->elements);
    return reply;
}

static void hear(redisContext *listener, const char *message)
{
    redisReply *reply = next_reply(listener);

    assert_string_equal("message", reply->element[0]->str);
    assert_string_equal(message, reply->element[2]->str);
    freeReplyObject(reply);
}

#define THEIRS "8743c9c0-0795-4907-87fd-6c719a6b4586:52"

static void check_field(const char *field, const char *value)
{
    assert_string_equal(value, servers_tell(0, "HGET n %s", field)->str);
}

static void writes_as_redisson(dlock_system *sys, redisContext *listener)
{
    dlock_lease writing, again, reading;
    char field[DLOCK_OWNER_MAX + 8];

    assert_status(OK, dlock_acquire(sys, "n", 0, &writing));
    assert_status(OK, dlock_acquire(sys, "n", 0, &again));
    snprintf(field, sizeof(field), "%s:write", writing.owner);
    check_field("mode", "write");
    check_field(field, "2");
    assert_int_equal(2, servers_ask(0, "HLEN n"));
    assert_in_range(servers_ask(0, "PTTL n"), LONG_LEASE_MS / 2, LONG_LEASE_MS);
    assert_int_equal(1, servers_ask(0, "DBSIZE"));
    assert_status(OK, dlock_release(sys, &again)); /* publishes no message */
    assert_status(OK, dlock_acquire_with(sys, "n", &READ, &reading));
    assert_string_equal(writing.owner, reading.owner);
    check_field(reading.owner, "1");
    assert_status(OK, dlock_release(sys, &writing));
    hear(listener, "1"); /* the message wakes all readers */
    check_field("mode", "read");
    assert_int_equal(2, servers_ask(0, "HLEN n"));
    assert_true(servers_ask(0, "PTTL {n}:%s:rwlock_timeout:1", reading.owner) >
                LONG_LEASE_MS / 2);
    assert_status(OK, dlock_release(sys, &reading));
    hear(listener, "0"); /* the message wakes one writer */
    assert_int_equal(0, servers_ask(0, "DBSIZE"));
    assert_status(OK, dlock_acquire(sys, "n", 0, &writing));
    assert_status(OK, dlock_release(sys, &writing));
    hear(listener, "1");
}

/* A Java program with Redisson holds the lock. */
static void respects_redisson(dlock_system *sys)
{
    dlock_lease lease;

    servers_ask(0, "HSET n mode read " THEIRS " 1");
    servers_tell(0, "SET {n}:" THEIRS ":rwlock_timeout:1 1 PX 60000");
    servers_ask(0, "PEXPIRE n 60000");
    assert_status(BUSY, rig_try(sys, "n"));
    assert_status(OK, dlock_acquire_with(sys, "n", &READ, &lease));
    assert_status(OK, dlock_release(sys, &lease));
    assert_int_equal(1, servers_ask(0, "EXISTS n")); /* the hold of the Java program goes on */
    assert_status(BUSY, rig_try(sys, "n"));
    servers_ask(0, "DEL n {n}:" THEIRS ":rwlock_timeout:1");
    servers_ask(0, "HSET n mode write " THEIRS ":write 1");
    servers_ask(0, "PEXPIRE n 60000");
    assert_status(BUSY, rig_try(sys, "n"));
    assert_status(BUSY, dlock_acquire_with(sys, "n", &READ, &lease));
}

void is_a_redisson_rwlock(const char *variant)
{
    dlock_options opts = rig_options(variant);
    redisContext *listener;
    dlock_system *sys;

    opts.lease_ms = LONG_LEASE_MS;
    servers_start(&opts);
    sys = rig_open(&opts);
    listener = redisConnectUnix(opts.redis_url + strlen("unix://"));
    assert_non_null(listener);
    assert_int_equal(REDIS_OK,
                     redisAppendCommand(listener, "SUBSCRIBE redisson_rwlock:{n}"));
    freeReplyObject(next_reply(listener));
    writes_as_redisson(sys, listener);
    redisFree(listener);
    respects_redisson(sys);
}
