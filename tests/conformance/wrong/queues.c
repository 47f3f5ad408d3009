/* SPDX-License-Identifier: MIT */
/* queues.c -- queues that let in another than the first, or keep who has left. */
#include "tests/conformance/wrong.h"

static const char SERVES_THE_LAST_FIRST_ACQUIRE[] =
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

static dlock_status serves_the_last_first_open(const dlock_options *opts, void **state)
{
    return wrong_open_fair(state, opts, SERVES_THE_LAST_FIRST_ACQUIRE);
}

/* A waiter that puts itself at the head of the queue. */
void wrong_serves_the_last_first(dlock_variant *it)
{
    it->open = serves_the_last_first_open;
}

static const char SERVES_WHOEVER_ASKS_ACQUIRE[] =
    "local free = redis.call('EXISTS', KEYS[1]) == 0"
    " if not free and redis.call('HEXISTS', KEYS[1], ARGV[2]) == 0 then"
    " if ARGV[4] ~= '0' then"
    " if not redis.call('ZSCORE', KEYS[3], ARGV[2]) then"
    " redis.call('RPUSH', KEYS[2], ARGV[2]) end"
    " redis.call('ZADD', KEYS[3], redis.call('TIME')[1] * 1000 + ARGV[4] + 1000,"
    " ARGV[2]) end"
    " return redis.call('PTTL', KEYS[1]) end"
    WRONG_FAIR_GRANT;

static dlock_status serves_whoever_asks_open(const dlock_options *opts, void **state)
{
    return wrong_open_fair(state, opts, SERVES_WHOEVER_ASKS_ACQUIRE);
}

/* A lock with a queue and messages of releases, whose acquire does not look at the queue. */
void wrong_serves_whoever_asks(dlock_variant *it)
{
    it->open = serves_whoever_asks_open;
}

static const char KEEPS_ITS_PLACE_FOR_EVER_ACQUIRE[] =
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

static dlock_status keeps_its_place_for_ever_open(const dlock_options *opts, void **state)
{
    return wrong_open_fair(state, opts, KEEPS_ITS_PLACE_FOR_EVER_ACQUIRE);
}

/* A queue that never removes a dead waiter. */
void wrong_keeps_its_place_for_ever(dlock_variant *it)
{
    it->open = keeps_its_place_for_ever_open;
}

static void stays_in_the_queue_leave(void *lock, const dlock_claim *claim)
{
    (void)lock;
    (void)claim;
}

/* A waiter that gives up and leaves its place in the queue behind. */
void wrong_stays_in_the_queue(dlock_variant *it)
{
    it->leave = stays_in_the_queue_leave;
}

static const char FORGETS_WHO_WAITS_LONG_ACQUIRE[] =
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

static dlock_status forgets_who_waits_long_open(const dlock_options *opts, void **state)
{
    return wrong_open_fair(state, opts, FORGETS_WHO_WAITS_LONG_ACQUIRE);
}

/* A place in the queue whose time is set when the waiter comes, and never renewed while it waits:
 * redisson #3004. */
void wrong_forgets_who_waits_long(dlock_variant *it)
{
    it->open = forgets_who_waits_long_open;
}

extern const dlock_variant dlock_variant_pg_fair;

static dlock_status queues_nobody_acquire(void *pool, dlock_claim *claim)
{
    dlock_claim passing = *claim;

    passing.wait_until_ns = 0;
    return dlock_variant_pg_fair.try_acquire(pool, &passing);
}

/* Waiters that ask again and again, and take no place in the queue. */
void wrong_queues_nobody(dlock_variant *it)
{
    it->try_acquire = queues_nobody_acquire;
}
