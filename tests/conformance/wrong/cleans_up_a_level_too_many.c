/* SPDX-License-Identifier: MIT */
/* cleans_up_a_level_too_many.c -- a release that subtracts one level, and does not name the level
 * that it releases. */
#include "gen/lua_scripts.h"
#include "lock/stores/redisson.h"
#include "tests/conformance/wrong.h"

static const char RELEASE[] =
    "local held = tonumber(redis.call('HGET', KEYS[1], ARGV[1]) or 0)"
    " if held == 0 then return nil end"
    " if held > 1 then redis.call('HSET', KEYS[1], ARGV[1], held - 1)"
    " redis.call('PEXPIRE', KEYS[1], ARGV[3]) return 0 end"
    " redis.call('DEL', KEYS[1])"
    " return 1 + redis.call('PUBLISH', ARGV[5], ARGV[4])";

static dlock_status open_state(const dlock_options *opts, void **state)
{
    return redisson_open((struct redisson_lock **)state, opts, LUA_REENTRANT_ACQUIRE,
                         RELEASE, true);
}

void wrong_cleans_up_a_level_too_many(dlock_variant *it)
{
    it->open = open_state;
}
