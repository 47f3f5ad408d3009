/* SPDX-License-Identifier: MIT */
/* serves_the_last_first.c -- a waiter that puts itself at the head of the queue. */
#include "tests/conformance/wrong.h"

static const char ACQUIRE[] =
    "local free = redis.call('EXISTS', KEYS[1]) == 0"
    " local queued = redis.call('ZSCORE', KEYS[3], ARGV[2])"
    " local head = redis.call('LINDEX', KEYS[2], 0)"
    " if redis.call('HEXISTS', KEYS[1], ARGV[2]) == 0"
    " and (not free or (head and head ~= ARGV[2])) then"
    " if ARGV[4] ~= '0' and not queued then"
    " redis.call('LPUSH', KEYS[2], ARGV[2])"
    " redis.call('ZADD', KEYS[3], redis.call('TIME')[1] * 1000 + ARGV[4] + 1000,"
    " ARGV[2]) end"
    " return free and 1 or redis.call('PTTL', KEYS[1]) end"
    WRONG_FAIR_GRANT;

static dlock_status open_state(const dlock_options *opts, void **state)
{
    return wrong_open_fair(state, opts, ACQUIRE);
}

void wrong_serves_the_last_first(dlock_variant *it)
{
    it->open = open_state;
}
