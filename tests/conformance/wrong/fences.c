/* SPDX-License-Identifier: MIT */
/* fences.c -- fences that do not grow from holder to holder. */
#include "gen/lua_scripts.h"
#include "lock/process.h"
#include "lock/stores/redisson.h"
#include "tests/conformance/wrong.h"

static const char REUSES_A_FENCE_ACQUIRE[] =
    "local held = tonumber(redis.call('HGET', KEYS[1], ARGV[2]) or 0)"
    " if held == 0 and tonumber(ARGV[3]) > 1 then return -3 end"
    " if held == 0 and redis.call('EXISTS', KEYS[1]) == 1 then"
    " return redis.call('PTTL', KEYS[1]) end"
    " redis.call('HSET', KEYS[1], ARGV[2], ARGV[3])"
    " redis.call('PEXPIRE', KEYS[1], ARGV[1])"
    " return tostring((redis.call('GET', KEYS[2]) or 0) + 1)";

static dlock_status reuses_a_fence_open(const dlock_options *opts, void **state)
{
    return redisson_open((struct redisson_lock **)state, opts, REUSES_A_FENCE_ACQUIRE,
                         LUA_REENTRANT_RELEASE, true);
}

static dlock_status reuses_a_fence_release(void *opaque, const dlock_claim *claim)
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

/* A counter that only a release increments: the holder after an ended lease gets the same number.
 * */
void wrong_reuses_a_fence(dlock_variant *it)
{
    it->open = reuses_a_fence_open;
    it->release = reuses_a_fence_release;
}

/* Open a lock whose scripts give no fence. */
static dlock_status fences_open(const dlock_options *opts, void **state)
{
    return redisson_open((struct redisson_lock **)state, opts, LUA_REENTRANT_ACQUIRE,
                         LUA_REENTRANT_RELEASE, true);
}

static dlock_status fence_counts_in_the_process_acquire(void *lock, dlock_claim *claim)
{
    static _Atomic uint64_t last;
    dlock_status st = redisson_acquire(lock, claim);

    if (st == DLOCK_OK && claim->level == 1)
        claim->fence = ++last;
    return st;
}

/* A fence from a counter of the process: each process counts from the beginning. */
void wrong_fence_counts_in_the_process(dlock_variant *it)
{
    it->open = fences_open;
    it->try_acquire = fence_counts_in_the_process_acquire;
}

static dlock_status fence_is_the_time_acquire(void *lock, dlock_claim *claim)
{
    static _Atomic uint64_t calls;
    dlock_status st = redisson_acquire(lock, claim);

    if (st == DLOCK_OK)
        claim->fence = (uint64_t)dlock_process_wall_ms() * 1000 + ++calls % 1000;
    return st;
}

/* A fence from a wall clock: clocks differ, and operators set them back. */
void wrong_fence_is_the_time(dlock_variant *it)
{
    it->open = fences_open;
    it->try_acquire = fence_is_the_time_acquire;
}
