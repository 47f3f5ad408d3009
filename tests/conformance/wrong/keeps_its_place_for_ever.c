/* SPDX-License-Identifier: MIT */
/* keeps_its_place_for_ever.c -- a queue that never removes a dead waiter. */
#include "tests/conformance/wrong.h"

static const char ACQUIRE[] =
    "local free = redis.call('EXISTS', KEYS[1]) == 0"
    " local head = redis.call('LINDEX', KEYS[2], 0)"
    " if redis.call('HEXISTS', KEYS[1], ARGV[2]) == 0"
    " and (not free or (head and head ~= ARGV[2])) then"
    " if ARGV[4] ~= '0' then"
    " if not redis.call('ZSCORE', KEYS[3], ARGV[2]) then"
    " redis.call('RPUSH', KEYS[2], ARGV[2]) end"
    " redis.call('ZADD', KEYS[3], redis.call('TIME')[1] * 1000 + ARGV[4] + 1000,"
    " ARGV[2]) end"
    " return free and 100 or redis.call('PTTL', KEYS[1]) end"
    WRONG_FAIR_GRANT;

static dlock_status open_state(const dlock_options *opts, void **state)
{
    return wrong_open_fair(state, opts, ACQUIRE);
}

void wrong_keeps_its_place_for_ever(dlock_variant *it)
{
    it->open = open_state;
}
