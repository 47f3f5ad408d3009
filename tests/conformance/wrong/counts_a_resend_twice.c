/* SPDX-License-Identifier: MIT */
/* counts_a_resend_twice.c -- HINCRBY, as Redisson uses it: a request that is sent again adds a
 * level that nobody releases. */
#include "lock/stores/redisson.h"
#include "tests/conformance/wrong.h"

static const char ACQUIRE[] =
    "if redis.call('EXISTS', KEYS[1]) == 0"
    " or redis.call('HEXISTS', KEYS[1], ARGV[2]) == 1 then"
    " redis.call('HINCRBY', KEYS[1], ARGV[2], 1)"
    " redis.call('PEXPIRE', KEYS[1], ARGV[1])"
    " return nil end"
    " return redis.call('PTTL', KEYS[1])";

static const char RELEASE[] =
    "if redis.call('HEXISTS', KEYS[1], ARGV[1]) == 0 then return nil end"
    " if redis.call('HINCRBY', KEYS[1], ARGV[1], -1) > 0 then"
    " redis.call('PEXPIRE', KEYS[1], ARGV[3]) return 0 end"
    " redis.call('DEL', KEYS[1])"
    " return 1 + redis.call('PUBLISH', ARGV[5], ARGV[4])";

static dlock_status open_state(const dlock_options *opts, void **state)
{
    return redisson_open((struct redisson_lock **)state, opts, ACQUIRE, RELEASE, true);
}

void wrong_counts_a_resend_twice(dlock_variant *it)
{
    it->open = open_state;
}
