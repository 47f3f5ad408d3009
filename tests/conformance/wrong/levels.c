/* SPDX-License-Identifier: MIT */
/* levels.c -- levels of a reentrant lock that are counted wrongly. */
#include "gen/lua_scripts.h"
#include "lock/stores/redis_single.h"
#include "lock/stores/redisson.h"
#include "tests/conformance/wrong.h"

static const char RESEND_ACQUIRE[] =
    "if redis.call('EXISTS', KEYS[1]) == 0"
    " or redis.call('HEXISTS', KEYS[1], ARGV[2]) == 1 then"
    " redis.call('HINCRBY', KEYS[1], ARGV[2], 1)"
    " redis.call('PEXPIRE', KEYS[1], ARGV[1])"
    " return nil end"
    " return redis.call('PTTL', KEYS[1])";

static const char RESEND_RELEASE[] =
    "if redis.call('HEXISTS', KEYS[1], ARGV[1]) == 0 then return nil end"
    " if redis.call('HINCRBY', KEYS[1], ARGV[1], -1) > 0 then"
    " redis.call('PEXPIRE', KEYS[1], ARGV[3]) return 0 end"
    " redis.call('DEL', KEYS[1])"
    " return 1 + redis.call('PUBLISH', ARGV[5], ARGV[4])";

static dlock_status counts_a_resend_twice_open(const dlock_options *opts, void **state)
{
    return redisson_open((struct redisson_lock **)state, opts, RESEND_ACQUIRE,
                         RESEND_RELEASE, true);
}

/* HINCRBY, as Redisson uses it: a request that is sent again adds a level that nobody releases. */
void wrong_counts_a_resend_twice(dlock_variant *it)
{
    it->open = counts_a_resend_twice_open;
}

static const char CLEANS_UP_A_LEVEL_TOO_MANY_RELEASE[] =
    "local held = tonumber(redis.call('HGET', KEYS[1], ARGV[1]) or 0)"
    " if held == 0 then return nil end"
    " if held > 1 then redis.call('HSET', KEYS[1], ARGV[1], held - 1)"
    " redis.call('PEXPIRE', KEYS[1], ARGV[3]) return 0 end"
    " redis.call('DEL', KEYS[1])"
    " return 1 + redis.call('PUBLISH', ARGV[5], ARGV[4])";

static dlock_status cleans_up_a_level_too_many_open(const dlock_options *opts, void **state)
{
    return redisson_open((struct redisson_lock **)state, opts, LUA_REENTRANT_ACQUIRE,
                         CLEANS_UP_A_LEVEL_TOO_MANY_RELEASE, true);
}

/* A release that subtracts one level, and does not name the level that it releases. */
void wrong_cleans_up_a_level_too_many(dlock_variant *it)
{
    it->open = cleans_up_a_level_too_many_open;
}

static dlock_status owner_is_the_process_acquire(void *lock, dlock_claim *claim)
{
    dlock_claim ours = *claim;
    dlock_status st;

    ours.owner = claim->uuid;
    st = redisson_acquire(lock, &ours);
    claim->free_in_ms = ours.free_in_ms;
    return st;
}

static dlock_status owner_is_the_process_renew(void *lock, const dlock_claim *claim)
{
    dlock_claim ours = *claim;

    ours.owner = claim->uuid;
    return redisson_renew(lock, &ours);
}

static dlock_status owner_is_the_process_release(void *lock, const dlock_claim *claim)
{
    dlock_claim ours = *claim;

    ours.owner = claim->uuid;
    return redisson_release(lock, &ours);
}

/* An owner text without the thread: the other threads of the process re-enter the lock. */
void wrong_owner_is_the_process(dlock_variant *it)
{
    it->try_acquire = owner_is_the_process_acquire;
    it->renew = owner_is_the_process_renew;
    it->release = owner_is_the_process_release;
}

static dlock_status inner_release_frees_all_release(void *lock, const dlock_claim *claim)
{
    dlock_claim all = *claim;

    all.level = 1;
    return redisson_release(lock, &all);
}

/* Levels that an acquire counts and a release does not: the first release frees the lock. */
void wrong_inner_release_frees_all(dlock_variant *it)
{
    it->release = inner_release_frees_all_release;
}

static const char RE_ENTERS_WHAT_IS_LOST_ACQUIRE[] =
    "if redis.call('EXISTS', KEYS[1]) == 1"
    " and redis.call('HEXISTS', KEYS[1], ARGV[2]) == 0 then"
    " return redis.call('PTTL', KEYS[1]) end"
    " redis.call('HSET', KEYS[1], ARGV[2], ARGV[3])"
    " redis.call('PEXPIRE', KEYS[1], ARGV[1])"
    " return nil";

static dlock_status re_enters_what_is_lost_open(const dlock_options *opts, void **state)
{
    return redisson_open((struct redisson_lock **)state, opts, RE_ENTERS_WHAT_IS_LOST_ACQUIRE,
                         LUA_REENTRANT_RELEASE, true);
}

/* An acquire of a second level that does not check whether the first level is still held. */
void wrong_re_enters_what_is_lost(dlock_variant *it)
{
    it->open = re_enters_what_is_lost_open;
}

static dlock_status inner_release_shortens_release(void *opaque, const dlock_claim *claim)
{
    const struct redisson_lock *lock = opaque;
    dlock_status st = redisson_release(opaque, claim);

    if (st == DLOCK_OK && claim->level > 1 && claim->lease_ms > 1000)
        (void)redis_expire(lock->link, claim->name, 1000);
    return st;
}

/* An inner release that cuts the lease to a second. */
void wrong_inner_release_shortens(dlock_variant *it)
{
    it->release = inner_release_shortens_release;
}
