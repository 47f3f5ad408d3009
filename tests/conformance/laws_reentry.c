/* SPDX-License-Identifier: MIT */
/* laws_reentry.c -- a holder that acquires its lock again. */
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "gen/lua_scripts.h"
#include "tests/conformance/laws.h"

static long long levels_in_store(const char *name, const char *owner)
{
    const redisReply *reply = servers_tell(0, "HGET %s %s", name, owner);

    if (reply->type == REDIS_REPLY_NIL)
        reply = servers_tell(0, "HGET %s %s:write", name, owner);

    return reply->type == REDIS_REPLY_STRING ? strtoll(reply->str, NULL, 10) : 0;
}

void counts_levels(const char *variant)
{
    dlock_options opts = rig_options(variant);
    struct rig_pair pair = rig_open_pair(&opts);
    const char *name = rig_name();
    dlock_lease level[3];

    servers_find(&opts);
    for (int i = 0; i < 3; i++) {
        assert_status(OK, dlock_acquire(pair.a, name, 0, &level[i]));
        assert_int_equal(i + 1, levels_in_store(name, level[0].owner));
        assert_string_equal(level[0].owner, level[i].owner);
    }
    assert_string_not_equal(level[0].token, level[1].token);
    /* The levels are released in another order than they were acquired: the outermost first. */
    assert_status(OK, dlock_release(pair.a, &level[0]));
    assert_status(INVALID, dlock_release(pair.a, &level[0]));
    assert_int_equal(2, levels_in_store(name, level[1].owner));
    assert_false(dlock_lease_valid(pair.a, &level[0]));
    assert_true(dlock_lease_valid(pair.a, &level[1]));
    assert_status(BUSY, rig_try_elsewhere(pair.a, name));
    assert_status(BUSY, rig_try(pair.b, name));
    assert_status(OK, dlock_renew(pair.a, &level[2]));
    assert_status(OK, dlock_release(pair.a, &level[2]));
    assert_status(BUSY, rig_try_elsewhere(pair.a, name));
    assert_status(OK, dlock_release(pair.a, &level[1]));
    assert_int_equal(0, servers_count_keys(name));
    assert_status(OK, rig_try_elsewhere(pair.a, name));
    assert_status(OK, rig_try(pair.b, name));
}

static void refuses_another_level(const char *variant)
{
    dlock_options opts = rig_options(variant);
    dlock_system *sys = rig_open(&opts);
    const char *name = rig_name();
    dlock_lease lease;

    assert_status(OK, dlock_acquire(sys, name, 0, &lease));
    assert_status(BUSY, rig_try(sys, name));
    assert_status(OK, dlock_release(sys, &lease));
    assert_status(OK, rig_try(sys, name));
}

/* The flag that a thread holds is kept in its process only. A second acquire of the thread is
 * granted, and is still granted after the lease has ended and another owner holds. */
static void flag_outlives_the_lease(const char *variant)
{
    dlock_options opts = rig_options(variant);
    const char *name = rig_name();
    struct rig_pair pair;
    dlock_lease outer;
    dlock_lease inner;
    dlock_lease others;

    pair.b = rig_open(&opts);
    opts.lease_ms = SHORT_LEASE_MS;
    pair.a = rig_open(&opts);
    rig_acquire_short(pair.a, name, NULL, SHORT_LEASE_MS, &outer);
    assert_status(OK, dlock_acquire(pair.a, name, 0, &inner));
    assert_while_valid(pair.a, &outer, rig_try_elsewhere(pair.a, name) == DLOCK_BUSY);
    assert_status(OK, dlock_release(pair.a, &inner));
    assert_while_valid(pair.a, &outer, rig_try_elsewhere(pair.a, name) == DLOCK_BUSY);
    assert_status(OK, dlock_acquire(pair.b, name, PATIENCE_MS, &others));
    assert_true(dlock_lease_valid(pair.b, &others));
    assert_status(OK, dlock_acquire(pair.a, name, 0, &inner)); /* two owners are inside */
    assert_true(dlock_lease_valid(pair.a, &inner));
    assert_status(OK, dlock_release(pair.a, &inner));
    assert_status(LOST, dlock_release(pair.a, &outer)); /* clears the flag */
    assert_status(BUSY, rig_try(pair.a, name));
    assert_status(OK, dlock_release(pair.b, &others));
}

void refuses_its_own_owner(const char *variant)
{
    if (rig_is(variant, "lua-local")) {
        flag_outlives_the_lease(variant);
        return;
    }
    refuses_another_level(variant);
}

static atomic_int told_count;

static void count_told(const dlock_lease *lease, void *arg)
{
    (void)lease;
    (void)arg;
    atomic_fetch_add(&told_count, 1);
}

/* The key is deleted, and the holder does not know it; the holder acquires again. */
void notices_lost_levels(const char *variant)
{
    dlock_options opts = rig_options(variant);
    const char *name = rig_name();
    dlock_lease lost;
    dlock_lease fresh;
    dlock_system *sys;

    atomic_store(&told_count, 0);
    opts.on_lost = count_told;
    sys = rig_open(&opts);
    servers_find(&opts);
    assert_status(OK, dlock_acquire(sys, name, 0, &lost));
    for (size_t i = 0; i < servers_found(); i++)
        assert_int_equal(1, servers_ask(i, "DEL %s", name));
    assert_true(dlock_lease_valid(sys, &lost));
    assert_status(OK, dlock_acquire(sys, name, 0, &fresh));
    assert_false(dlock_lease_valid(sys, &lost));
    assert_true(dlock_lease_valid(sys, &fresh));
    assert_comes(atomic_load(&told_count) == 1);
    assert_status(LOST, dlock_release(sys, &lost));
    assert_int_equal(1, levels_in_store(name, fresh.owner));
    assert_status(BUSY, rig_try_elsewhere(sys, name));
    assert_status(OK, dlock_release(sys, &fresh));
    assert_int_equal(0, servers_count_keys(name));
}

/* Send the variant's own request for a level, as text. The braces are for a cluster. */
static const redisReply *send_acquire(const char *variant, const char *name,
                                      const char *owner, int level)
{
    if (rig_is(variant, "fenced"))
        return servers_tell(0, "EVAL %s 3 %s {%s}:fence {%s}:asked 60000 %s %d %s t",
                            LUA_FENCED_ACQUIRE, name, name, name, owner, level, "");
    if (rig_is(variant, "fair"))
        return servers_tell(0, "EVAL %s 3 %s {%s}:q {%s}:t 60000 %s %d 0", LUA_FAIR_ACQUIRE,
                            name, name, name, owner, level);
    if (rig_is(variant, "rwlock"))
        return servers_tell(0, "EVAL %s 1 %s 60000 %s:write %d",
                            LUA_RWLOCK_WRITE_ACQUIRE, name, owner, level);
    return servers_tell(0, "EVAL %s 1 %s 60000 %s %d", LUA_REENTRANT_ACQUIRE, name,
                        owner, level);
}

static const redisReply *send_release(const char *variant, const char *name,
                                      const char *owner, int level)
{
    if (rig_is(variant, "fair"))
        return servers_tell(0, "EVAL %s 3 %s {%s}:q {%s}:t %s %d 60000 0 c:",
                            LUA_FAIR_RELEASE, name, name, name, owner, level);
    if (rig_is(variant, "rwlock"))
        return servers_tell(0, "EVAL %s 3 %s {%s}:c {%s}:l: %s %d 60000 1",
                            LUA_RWLOCK_WRITE_RELEASE, name, name, name, owner, level);
    return servers_tell(0, "EVAL %s 1 %s %s %d 60000 0 c", LUA_REENTRANT_RELEASE, name,
                        owner, level);
}

/* Send the requests of the variant by hand, as a network would that delivers them twice or late. */
void counts_a_resent_request_once(const char *variant)
{
    dlock_options opts = rig_options(variant);
    const char *name = rig_name();
    const char *owner = "00000000-0000-4000-8000-000000000000:7";

    servers_find(&opts);
    for (int level = 1; level <= 2; level++)
        for (int sent = 0; sent < 2; sent++) {
            const redisReply *reply = send_acquire(variant, name, owner, level);

            if (rig_caps(variant) & DLOCK_CAP_FENCED)
                assert_string_equal("1", reply->str); /* one holder has one number */
            else
                assert_int_equal(REDIS_REPLY_NIL, reply->type);
            assert_int_equal(level, levels_in_store(name, owner));
        }
    /* The request for level 1 arrives again, late: it must not take back level 2. */
    send_acquire(variant, name, owner, 1);
    assert_int_equal(2, levels_in_store(name, owner));
    /* A clean-up of level 3, which was never granted, must keep levels 1 and 2. */
    send_release(variant, name, owner, 3);
    assert_int_equal(2, levels_in_store(name, owner));
    for (int sent = 0; sent < 2; sent++) {
        assert_int_equal(0, send_release(variant, name, owner, 2)->integer);
        assert_int_equal(1, levels_in_store(name, owner));
    }
    assert_int_equal(1, send_release(variant, name, owner, 1)->integer);
    assert_int_equal(REDIS_REPLY_NIL, send_release(variant, name, owner, 1)->type);
    assert_int_equal(0, servers_count_keys(name));
}

/* Let the stopped server go on when a loss was reported. */
static void *resume_after_loss(void *arg)
{
    struct pollfd lost = {.fd = *(const int *)arg, .events = POLLIN};

    (void)poll(&lost, 1, PATIENCE_MS);
    servers_signal(0, 1, SIGCONT);
    return NULL;
}

/* The store still knows the outer level, and would grant one more. But the library has told the
 * owner that the outer level is lost, so it must not grant an inner level. */
void grants_no_level_of_a_lost_hold(const char *variant)
{
    enum { LEASE_MS = 60000 };
    dlock_options opts = rig_options(variant);
    const char *name = rig_name();
    dlock_lease outer, inner;
    pthread_t helper;
    dlock_system *sys;
    dlock_status st;
    int64_t until_ms;
    int lost_fd;

    opts.lease_ms = SHORT_LEASE_MS;
    opts.watchdog = false;
    servers_start(&opts);
    sys = rig_open(&opts);
    lost_fd = dlock_lost_fd(sys);
    assert_true(lost_fd >= 0);
    until_ms = rig_acquire_short(sys, name, NULL, SHORT_LEASE_MS, &outer);
    assert_provided(lasts_until(until_ms),
                    servers_ask(0, "PEXPIRE %s %d", name, LEASE_MS) == 1);
    servers_signal(0, 1, SIGSTOP);
    premise_watch_pace();
    presume(lasts_until(until_ms - SHORT_LEASE_MS / 4));
    assert_int_equal(0, pthread_create(&helper, NULL, resume_after_loss, &lost_fd));
    st = dlock_try_lock_for(sys, name, 0, LEASE_MS, &inner);
    pthread_join(helper, NULL);
    assert_status_provided(is_steady(SHORT_LEASE_MS), BUSY, st);
    assert_false(dlock_lease_valid(sys, &outer));
}
