/* SPDX-License-Identifier: MIT */
/* forgets_who_waits_long.c -- a place in the queue whose time is set when the waiter comes, and
 * never renewed while it waits: redisson #3004. */
#include "tests/conformance/wrong.h"

static const char ACQUIRE[] =
    "local time = redis.call('TIME')"
    " local now = time[1] * 1000 + math.floor(time[2] / 1000)"
    " local head = redis.call('LINDEX', KEYS[2], 0)"
    " while head and (tonumber(redis.call('ZSCORE', KEYS[3], head)) or 0) <= now do"
    " redis.call('LPOP', KEYS[2]) redis.call('ZREM', KEYS[3], head)"
    " head = redis.call('LINDEX', KEYS[2], 0) end"
    " local free = redis.call('EXISTS', KEYS[1]) == 0"
    " if redis.call('HEXISTS', KEYS[1], ARGV[2]) == 0"
    " and (not free or (head and head ~= ARGV[2])) then"
    " if ARGV[4] ~= '0' and not redis.call('ZSCORE', KEYS[3], ARGV[2]) then"
    " redis.call('RPUSH', KEYS[2], ARGV[2])"
    " redis.call('ZADD', KEYS[3], now + ARGV[4], ARGV[2]) end"
    " return free and 100 or redis.call('PTTL', KEYS[1]) end"
    WRONG_FAIR_GRANT;

static dlock_status open_state(const dlock_options *opts, void **state)
{
    return wrong_open_fair(state, opts, ACQUIRE);
}

void wrong_forgets_who_waits_long(dlock_variant *it)
{
    it->open = open_state;
}
