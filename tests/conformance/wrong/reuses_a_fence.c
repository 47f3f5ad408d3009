/* SPDX-License-Identifier: MIT */
/* reuses_a_fence.c -- a counter that only a release increments: the holder after an ended lease
 * gets the same number. */
#include "gen/lua_scripts.h"
#include "lock/stores/redisson.h"
#include "tests/conformance/wrong.h"

static const char ACQUIRE[] =
    "local held = tonumber(redis.call('HGET', KEYS[1], ARGV[2]) or 0)"
    " if held == 0 and tonumber(ARGV[3]) > 1 then return -3 end"
    " if held == 0 and redis.call('EXISTS', KEYS[1]) == 1 then"
    " return redis.call('PTTL', KEYS[1]) end"
    " redis.call('HSET', KEYS[1], ARGV[2], ARGV[3])"
    " redis.call('PEXPIRE', KEYS[1], ARGV[1])"
    " return tostring((redis.call('GET', KEYS[2]) or 0) + 1)";

static dlock_status open_state(const dlock_options *opts, void **state)
{
    return redisson_open((struct redisson_lock **)state, opts, ACQUIRE,
                         LUA_REENTRANT_RELEASE, true);
}

static dlock_status release(void *opaque, const dlock_claim *claim)
{
    const struct redisson_lock *lock = opaque;
    char counter[REDISSON_NAME_SIZE];
    struct redis_command incr = {2, {"INCR", counter}, REDIS_SHAPE_ANY};
    struct redis_answer answer;
    dlock_status st = redisson_release(opaque, claim);

    redisson_name("redisson_lock_token", claim->name, counter);
    if (st == DLOCK_OK && claim->level == 1)
        (void)redis_call(lock->link, &incr, INT64_MAX, &answer);
    return st;
}

void wrong_reuses_a_fence(dlock_variant *it)
{
    it->open = open_state;
    it->release = release;
}
