/* SPDX-License-Identifier: MIT */
/* re_enters_what_is_lost.c -- an acquire of a second level that does not check whether the first
 * level is still held. */
#include "gen/lua_scripts.h"
#include "lock/stores/redisson.h"
#include "tests/conformance/wrong.h"

static const char ACQUIRE[] =
    "if redis.call('EXISTS', KEYS[1]) == 1"
    " and redis.call('HEXISTS', KEYS[1], ARGV[2]) == 0 then"
    " return redis.call('PTTL', KEYS[1]) end"
    " redis.call('HSET', KEYS[1], ARGV[2], ARGV[3])"
    " redis.call('PEXPIRE', KEYS[1], ARGV[1])"
    " return nil";

static dlock_status open_state(const dlock_options *opts, void **state)
{
    return redisson_open((struct redisson_lock **)state, opts, ACQUIRE,
                         LUA_REENTRANT_RELEASE, true);
}

void wrong_re_enters_what_is_lost(dlock_variant *it)
{
    it->open = open_state;
}
