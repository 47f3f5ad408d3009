/* SPDX-License-Identifier: MIT */
/* serves_whoever_asks.c -- a lock with a queue and messages of releases, whose acquire does not
 * look at the queue. */
#include "tests/conformance/wrong.h"

static const char ACQUIRE[] =
    "local free = redis.call('EXISTS', KEYS[1]) == 0"
    " if not free and redis.call('HEXISTS', KEYS[1], ARGV[2]) == 0 then"
    " if ARGV[4] ~= '0' then"
    " if not redis.call('ZSCORE', KEYS[3], ARGV[2]) then"
    " redis.call('RPUSH', KEYS[2], ARGV[2]) end"
    " redis.call('ZADD', KEYS[3], redis.call('TIME')[1] * 1000 + ARGV[4] + 1000,"
    " ARGV[2]) end"
    " return redis.call('PTTL', KEYS[1]) end"
    WRONG_FAIR_GRANT;

static dlock_status open_state(const dlock_options *opts, void **state)
{
    return wrong_open_fair(state, opts, ACQUIRE);
}

void wrong_serves_whoever_asks(dlock_variant *it)
{
    it->open = open_state;
}
